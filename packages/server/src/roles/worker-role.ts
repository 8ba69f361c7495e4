/** The worker of a cluster: its replicas on disk, and its partitions. */

import { AckReturn, RoutedPeer } from '@engine/rpc';
import {
  LevelKvStore,
  LevelReplicaStores,
  REPLICA_STORE,
  type ReplicaStoresEvent,
} from '@engine/storage-leveldb';
import { createLogger } from '@engine/telemetry';
import { Hosting, Worker, workerOptions } from '@engine/worker';

import { directoriesOf, type ServerConfig } from '../config/config.js';
import { clusterSystem } from './cluster-clock.js';
import type { ClusterFoundation } from './cluster-foundation.js';
import { makeKeeper, openSnapshots } from './partition-snapshots.js';
import { workerSettings } from './settings.js';
import { startPart } from './system.js';

const log = createLogger('server:replicas');

export interface WorkerRole {
  readonly worker: Worker;
  readonly hosting: Hosting;
  /** How acknowledgements find back to other workers. */
  readonly acks: AckReturn;
}

export interface WorkerRoleDependencies {
  readonly foundation: ClusterFoundation;
  readonly isLeaseHeld: () => boolean;
  /** The process cannot go on. */
  readonly onFatal: (error: unknown) => void;
}

/** Opens the stores. Nothing is led or followed before the table is told. What is opened is closed by `parts`. */
export async function startWorkerRole(
  config: ServerConfig,
  { foundation, isLeaseHeld, onFatal }: WorkerRoleDependencies,
  parts: AsyncDisposableStack,
): Promise<WorkerRole> {
  const { self, hashes, documents, directory, links, peers, access } = foundation;
  const { cluster, schemas, openLog } = documents;
  const store = await LevelKvStore.open({
    directory: directoriesOf(config).storage,
    kind: REPLICA_STORE,
  });
  parts.defer(() => store.close());
  const source = await openSnapshots(config, documents, self);
  const stores = parts.use(
    await LevelReplicaStores.open({}, { store, source, onEvent: onReplicaEvent }),
  );
  const acks = new AckReturn();
  const peer = await startPart(
    parts,
    new RoutedPeer({ directory, links: links.workers, nodeId: self, local: () => worker, acks }),
  );
  const worker: Worker = await startPart(
    parts,
    new Worker(workerOptions(workerSettings(config, cluster.partitionCount)), {
      ...clusterSystem,
      hashes,
      schema: () => schemas.current,
      transport: access.transport,
      peer,
      onFatal,
    }),
  );
  const hosting = await startPart(
    parts,
    new Hosting(
      { node: self, handoverPatienceMs: config.nodeLeaseTtl },
      {
        ...clusterSystem,
        worker,
        openLog,
        stores,
        peers,
        isLeaseHeld,
      },
    ),
  );
  if (source !== undefined) {
    const kept = { snapshots: source, replicas: stores, control: hosting, peers, openLog };
    await startPart(parts, makeKeeper(config, kept));
  }
  return { worker, hosting, acks };
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
