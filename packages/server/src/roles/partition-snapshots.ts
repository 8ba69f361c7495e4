/** Where the snapshots of a cluster's partitions go, and who takes them. */

import { EngineError, isEngineError, type NodeId } from '@engine/domain';
import { openObjectStore } from '@engine/object-store';
import {
  PartitionSnapshots,
  SnapshotKeeper,
  type KeptReplicas,
  type ObjectStore,
  type SnapshotEvent,
} from '@engine/snapshots';
import { createLogger } from '@engine/telemetry';
import type { NodeControl, NodePeers } from '@engine/wire';

import type { ServerConfig } from '../config/config.js';
import { clusterSystem } from './cluster-clock.js';
import { FIRST_INCARNATION, type ClusterDocuments } from './cluster-documents.js';

const log = createLogger('server:snapshots');

/** Values of `worker.snapshots.destination` that are no address. */
const IN_NATS = 'nats';
const NOWHERE = 'none';

/** Undefined: there are none, and logs are not trimmed. Throws EngineError RT0002 when the destination cannot be used. */
export async function openSnapshots(
  config: ServerConfig,
  documents: ClusterDocuments,
  node: NodeId,
): Promise<PartitionSnapshots | undefined> {
  const { destination = IN_NATS } = config.worker.snapshots;
  if (destination === NOWHERE) {
    log.warn('there are no snapshots: logs grow without an end');
    return undefined;
  }
  const objects =
    destination === IN_NATS
      ? await documents.nats.openObjects({
          cluster: documents.cluster.id,
          replicas: documents.cluster.replicas,
        })
      : await openDestination(config, destination);
  return new PartitionSnapshots(
    { cluster: documents.cluster.id, incarnation: FIRST_INCARNATION, node },
    { ...clusterSystem, objects, onEvent: onSnapshotEvent },
  );
}

export interface KeeperDependencies {
  readonly snapshots: PartitionSnapshots;
  readonly replicas: KeptReplicas;
  readonly control: NodeControl;
  readonly peers: NodePeers;
  readonly openLog: ClusterDocuments['openLog'];
}

export function makeKeeper(
  { worker }: ServerConfig,
  { openLog, ...dependencies }: KeeperDependencies,
): SnapshotKeeper {
  const { snapshotInterval, snapshotIntervalNumRecords } = worker.snapshots;
  return new SnapshotKeeper(
    { intervalMs: snapshotInterval, intervalRecords: BigInt(snapshotIntervalNumRecords) },
    {
      ...clusterSystem,
      ...dependencies,
      trim: async (partition, sequence) => (await openLog(partition)).trim(sequence),
      onEvent: onSnapshotEvent,
    },
  );
}

async function openDestination(config: ServerConfig, destination: string): Promise<ObjectStore> {
  const { snapshots } = config.worker;
  const { awsRegion: region, awsEndpointUrl: endpoint } = snapshots;
  const { awsAccessKeyId, awsSecretAccessKey, awsSessionToken: sessionToken } = snapshots;
  const credentials =
    awsAccessKeyId === undefined || awsSecretAccessKey === undefined
      ? undefined
      : { accessKeyId: awsAccessKeyId, secretAccessKey: awsSecretAccessKey, sessionToken };
  try {
    return await openObjectStore(destination, { region, endpoint, credentials }, clusterSystem);
  } catch (cause) {
    if (!isEngineError(cause)) throw cause;
    const reason = `worker.snapshots.destination: ${cause.message}`;
    throw new EngineError('RT0002', reason, { cause });
  }
}

function onSnapshotEvent(event: SnapshotEvent): void {
  const { partition } = event;
  switch (event.kind) {
    case 'taken': {
      const { sequence } = event.snapshot.manifest.position;
      log.info({ partition, sequence, durationMs: event.durationMs }, 'snapshot taken');
      return;
    }
    case 'failed':
      log.warn({ partition, err: event.error, retryMs: event.retryMs }, 'snapshot failed');
      return;
    case 'skipped':
      log.warn({ partition, snapshot: event.name, why: event.why }, 'snapshot cannot be used');
      return;
    case 'deleted':
      log.debug({ partition, snapshot: event.name }, 'older snapshot deleted');
      return;
    case 'trimmed':
      log.info({ partition, oldest: event.oldest }, 'log trimmed');
  }
}
