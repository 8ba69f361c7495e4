/** The worker of a cluster: its replicas on disk, its partitions, and the port where others reach them. */

import type { ClusterConfiguration, Hashes, NodeId, PartitionId } from '@engine/domain';
import type { SharedLog } from '@engine/log';
import type { SchemaRegistry } from '@engine/metadata';
import type { MemberPeers, TableDirectory } from '@engine/membership';
import { AckReturn, RoutedPeer, RpcServer } from '@engine/rpc';
import {
  LevelKvStore,
  LevelReplicaStores,
  REPLICA_STORE,
  type ReplicaStoresEvent,
} from '@engine/storage-leveldb';
import { createLogger } from '@engine/telemetry';
import { Hosting, Worker, workerOptions } from '@engine/worker';

import { directoriesOf, nodeAddressOf, type ServerConfig } from '../config/config.js';
import type { DeploymentAccess } from './deployment-access.js';
import type { Links } from './node-links.js';
import { ANY_ADDRESS, workerSettings } from './settings.js';
import { startPart, system } from './system.js';

const log = createLogger('server:replicas');

export interface WorkerRole {
  readonly worker: Worker;
  readonly hosting: Hosting;
  /** Where other nodes reach it. */
  readonly port: number;
}

export interface WorkerRoleDependencies {
  readonly self: NodeId;
  readonly cluster: ClusterConfiguration;
  readonly hashes: Hashes;
  readonly schemas: SchemaRegistry;
  readonly access: DeploymentAccess;
  readonly openLog: (partition: PartitionId) => Promise<SharedLog>;
  readonly directory: TableDirectory;
  readonly links: Links;
  readonly peers: MemberPeers;
  readonly isLeaseHeld: () => boolean;
  /** The process cannot go on. */
  readonly onFatal: (error: unknown) => void;
}

/** Opens the stores and listens. Nothing is led or followed before the table is told. What is opened is closed by `parts`. */
export async function startWorkerRole(
  config: ServerConfig,
  dependencies: WorkerRoleDependencies,
  parts: AsyncDisposableStack,
): Promise<WorkerRole> {
  const { self, cluster, hashes, schemas, access, openLog, directory, links } = dependencies;
  const store = await LevelKvStore.open({
    directory: directoriesOf(config).storage,
    kind: REPLICA_STORE,
  });
  parts.defer(() => store.close());
  const stores = parts.use(await LevelReplicaStores.open({}, { store, onEvent: onReplicaEvent }));
  const acks = new AckReturn();
  const peer = await startPart(
    parts,
    new RoutedPeer({ directory, links: links.workers, nodeId: self, local: () => worker, acks }),
  );
  const worker: Worker = await startPart(
    parts,
    new Worker(workerOptions(workerSettings(config, cluster.partitionCount)), {
      ...system,
      hashes,
      schema: () => schemas.current,
      transport: access.transport,
      peer,
      onFatal: dependencies.onFatal,
    }),
  );
  const hosting = await startPart(
    parts,
    new Hosting(
      { node: self, handoverPatienceMs: config.nodeLeaseTtl },
      {
        ...system,
        worker,
        openLog,
        stores,
        peers: dependencies.peers,
        isLeaseHeld: dependencies.isLeaseHeld,
      },
    ),
  );
  const { host = ANY_ADDRESS, port } = nodeAddressOf(config);
  const { introduction, messageBytesMax, tls } = links;
  const server = await startPart(
    parts,
    new RpcServer(
      { host, port, introduction, messageBytesMax, tls },
      { ...system, worker: { channel: worker, peer: worker, scans: worker, acks }, node: hosting },
    ),
  );
  return { worker, hosting, port: server.port };
}

function onReplicaEvent(event: ReplicaStoresEvent): void {
  const { partition } = event.place;
  switch (event.kind) {
    case 'restored':
      log.info({ partition, sequence: event.position.sequence }, 'partition restored');
      return;
    case 'swept':
      log.debug({ partition, rows: event.rows }, 'rows of an older generation deleted');
      return;
    case 'sweep-failed':
      log.warn({ partition, err: event.error }, 'rows of an older generation stay for now');
  }
}
