/** What a node of a cluster has from NATS: the documents of the cluster, and the logs of its partitions. */

import { readFileSync } from 'node:fs';

import {
  EngineError,
  type ClusterConfiguration,
  type Hashes,
  type PartitionId,
} from '@engine/domain';
import type { SharedLog } from '@engine/log';
import { provisionCluster, SchemaRegistry, type MetadataStore } from '@engine/metadata';
import { findSync, Nats, requireSync, type NatsSecurity } from '@engine/nats';
import { createUlidFactory } from '@engine/runtime';
import { toHex } from '@engine/stdx';
import { createLogger } from '@engine/telemetry';

import type { ServerConfig } from '../config/config.js';
import { clusterSystem } from './cluster-clock.js';
import { patiently } from './patience.js';
import { handlerDefaults } from './settings.js';

const log = createLogger('server:cluster');

/** Chosen by measurement (decision 0007): enough to spread over a dozen workers. */
const PARTITIONS_OF_A_CLUSTER = 24;

/** The first life of every log; a restore that loses a tail would begin the next one. */
export const FIRST_INCARNATION = 1n;

export interface ClusterDocuments {
  readonly nats: Nats;
  readonly metadata: MetadataStore;
  readonly cluster: ClusterConfiguration;
  readonly schemas: SchemaRegistry;
  /** The clock of the servers, in ms since 1970. */
  readonly serverTime: () => Promise<number>;
  readonly openLog: (partition: PartitionId) => Promise<SharedLog>;
}

/**
 * Connects, makes the cluster where there is none, and reads its documents. What is opened is closed by `parts`.
 *
 * Throws EngineError `unavailable` when no server answers; RT0002 when one is too old, a bucket is set up wrongly, or the data belong
 * to another cluster.
 */
export async function openClusterDocuments(
  config: ServerConfig,
  hashes: Hashes,
  parts: AsyncDisposableStack,
): Promise<ClusterDocuments> {
  const { servers, monitorUrls } = config.nats;
  const security = securityOf(config);
  const nats = parts.use(
    await Nats.connect({ servers, name: config.nodeName, security }, { ...clusterSystem }),
  );
  await checkSync(monitorUrls);
  const metadata = await nats.openMetadata({
    cluster: config.clusterName,
    replicas: config.defaultReplication,
  });
  const wanted = {
    id: `${config.clusterName}-${newLife()}`,
    name: config.clusterName,
    partitionCount: config.defaultNumPartitions ?? PARTITIONS_OF_A_CLUSTER,
    replicas: config.defaultReplication,
  };
  const cluster = await patiently('cluster', () => provisionCluster(metadata, wanted));
  const openSchemas = (): Promise<SchemaRegistry> =>
    SchemaRegistry.open(handlerDefaults(config), {
      store: metadata,
      onUnreadable: (error) => {
        log.error({ err: error }, 'a newer schema cannot be read; the last one stays in force');
      },
    });
  const schemas = parts.use(await patiently('schemas', openSchemas));
  return {
    nats,
    metadata,
    cluster,
    schemas,
    serverTime: () => metadata.time(),
    openLog: (partition) =>
      nats.openLog({
        identity: { cluster: cluster.id, partition, incarnation: FIRST_INCARNATION },
        replicas: cluster.replicas,
        checksum: hashes.xxh3,
      }),
  };
}

async function checkSync(monitorUrls: readonly string[]): Promise<void> {
  const finding = await findSync(monitorUrls);
  requireSync(finding);
  if (finding === 'always') return;
  log.warn('cannot see whether the nats-servers sync each write: set nats.monitor-urls');
}

/** Tells a cluster from an earlier one of its name. */
function newLife(): string {
  return toHex(createUlidFactory(clusterSystem.clock, clusterSystem.random)().slice(0, 8));
}

function securityOf({ nats }: ServerConfig): NatsSecurity {
  const { user, password, token, credentialsFile, tlsCaFile } = nats;
  const credentials = credentialsFile === undefined ? undefined : readSecret(credentialsFile);
  return { user, password, token, credentials, tlsCaFile };
}

function readSecret(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new EngineError('RT0002', `nats.credentials-file: ${String(cause)}`, { cause });
  }
}
