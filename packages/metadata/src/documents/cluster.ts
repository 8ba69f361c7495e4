/** The cluster document: what is fixed when a cluster is provisioned, and the format in force. */

import {
  EngineError,
  isEngineError,
  PARTITION_COUNT_MAX,
  type ClusterConfiguration,
} from '@engine/domain';
import { decodeUtf8Strict, encodeUtf8 } from '@engine/stdx';
import { z } from 'zod';

import type { MetadataStore } from '../metadata-store.js';

export const CLUSTER_DOCUMENT = 'cluster';

/** Version of the document that this code writes. */
const CLUSTER_DOCUMENT_FORMAT = 2;

const partitionCount = z.int().min(1).max(PARTITION_COUNT_MAX);

const current = z
  .strictObject({
    format: z.literal(CLUSTER_DOCUMENT_FORMAT),
    id: z.string().min(1),
    name: z.string(),
    partitionCount,
    replicas: z.union([z.literal(1), z.literal(3)]),
    formatVersion: z.int().min(1),
  })
  .transform(({ format: _, ...cluster }): ClusterConfiguration => cluster);

/** Format 1 was written by servers of one process: one copy, and no id beside the name. */
const first = z
  .strictObject({ format: z.literal(1), name: z.string(), partitionCount })
  .transform(({ name, partitionCount: count }): ClusterConfiguration => ({
    id: name,
    name,
    partitionCount: count,
    replicas: 1,
    formatVersion: 1,
  }));

const document = z.union([current, first]);

/** What a first start asks for. `id` is the name unless given, `replicas` and `formatVersion` are 1. */
export type NewCluster = Pick<ClusterConfiguration, 'name' | 'partitionCount'> &
  Partial<ClusterConfiguration>;

/**
 * Reads the cluster document, or writes it from `fresh` when the store has none. Of several first starts one wins, the others find
 * its document.
 *
 * Throws EngineError META0005 when the document cannot be read, META0010 when a newer server wrote it, RT0002 when the data belong to
 * a cluster of another name.
 */
export async function provisionCluster(
  store: MetadataStore,
  fresh: NewCluster,
): Promise<ClusterConfiguration> {
  const cluster = (await find(store)) ?? (await create(store, fresh));
  if (cluster.name === fresh.name) return cluster;
  throw new EngineError(
    'RT0002',
    `cluster-name is '${fresh.name}', but the data belong to the cluster '${cluster.name}'`,
  );
}

async function find(store: MetadataStore): Promise<ClusterConfiguration | undefined> {
  const entry = await store.get(CLUSTER_DOCUMENT);
  return entry === undefined ? undefined : decodeCluster(entry.value);
}

async function create(store: MetadataStore, fresh: NewCluster): Promise<ClusterConfiguration> {
  const cluster = { id: fresh.name, replicas: 1, formatVersion: 1, ...fresh } as const;
  const bytes = encodeCluster(cluster);
  try {
    await store.put(CLUSTER_DOCUMENT, bytes, 'absent');
    return decodeCluster(bytes);
  } catch (error) {
    if (!isEngineError(error) || error.code !== 'conflict') throw error;
    const winner = await find(store);
    if (winner === undefined) throw error;
    return winner;
  }
}

/** Throws EngineError META0005 when the configuration is none that could be read back. */
export function encodeCluster(cluster: ClusterConfiguration): Uint8Array {
  const { id, name, partitionCount: count, replicas, formatVersion } = cluster;
  const identity = { format: CLUSTER_DOCUMENT_FORMAT, id, name };
  const text = JSON.stringify({ ...identity, partitionCount: count, replicas, formatVersion });
  const bytes = encodeUtf8(text);
  decodeCluster(bytes);
  return bytes;
}

/** Throws EngineError META0010 when a newer server wrote it, META0005 when it is damaged. */
export function decodeCluster(bytes: Uint8Array): ClusterConfiguration {
  try {
    const json: unknown = JSON.parse(decodeUtf8Strict(bytes));
    refuseNewer(json);
    return document.parse(json);
  } catch (cause) {
    if (isEngineError(cause)) throw cause;
    throw new EngineError('META0005', 'the cluster document cannot be read', { cause });
  }
}

function refuseNewer(json: unknown): void {
  if (typeof json !== 'object' || json === null || !('format' in json)) return;
  const { format } = json;
  if (typeof format !== 'number' || format <= CLUSTER_DOCUMENT_FORMAT) return;
  throw new EngineError(
    'META0010',
    `the cluster document has format ${String(format)}; ` +
      `this server reads up to ${String(CLUSTER_DOCUMENT_FORMAT)}`,
  );
}
