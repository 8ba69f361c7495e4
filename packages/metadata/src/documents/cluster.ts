/** The cluster document: what is fixed when a cluster is provisioned and never changes after. */

import { EngineError, PARTITION_COUNT_MAX } from '@engine/domain';
import { decodeUtf8, encodeUtf8 } from '@engine/stdx';
import { z } from 'zod';

import type { MetadataStore } from '../metadata-store.js';

export const CLUSTER_DOCUMENT = 'cluster';

const document = z.strictObject({
  format: z.literal(1),
  name: z.string(),
  /** Ids are mapped to partitions by it, so it holds for the life of the data. */
  partitionCount: z.int().min(1).max(PARTITION_COUNT_MAX),
});

export interface Cluster {
  readonly name: string;
  /** 1..PARTITION_COUNT_MAX. */
  readonly partitionCount: number;
}

/**
 * Reads the cluster document, or writes it from `fresh` when the store has none.
 *
 * Throws EngineError META0005 when the document cannot be read, RT0002 when the data belong to a cluster of another name.
 */
export async function provisionCluster(store: MetadataStore, fresh: Cluster): Promise<Cluster> {
  const entry = await store.get(CLUSTER_DOCUMENT);
  if (entry === undefined) {
    const { name, partitionCount } = fresh;
    const text = JSON.stringify({ format: 1, name, partitionCount });
    await store.put(CLUSTER_DOCUMENT, encodeUtf8(text), 'absent');
    return fresh;
  }
  const cluster = decodeCluster(entry.value);
  if (cluster.name !== fresh.name) {
    throw new EngineError(
      'RT0002',
      `cluster-name is '${fresh.name}', but the data belong to the cluster '${cluster.name}'`,
    );
  }
  return cluster;
}

function decodeCluster(bytes: Uint8Array): Cluster {
  try {
    const { name, partitionCount } = document.parse(JSON.parse(decodeUtf8(bytes)));
    return { name, partitionCount };
  } catch (cause) {
    throw new EngineError('META0005', 'the cluster document cannot be read', { cause });
  }
}
