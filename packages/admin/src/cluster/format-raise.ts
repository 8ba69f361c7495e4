/** Raises the format in force once every registered node reads a later one. Back is not possible: older binaries could not read what is written. */

import { raisableFormat } from '@engine/cluster';
import { isEngineError, type ClusterNode } from '@engine/domain';
import {
  CLUSTER_DOCUMENT,
  decodeCluster,
  encodeCluster,
  type MetadataStore,
} from '@engine/metadata';

import { formatRaised } from './events.js';

/**
 * The format in force afterwards; undefined without a cluster document. With no nodes nothing is raised. Rejects when the store cannot be
 * reached or the document cannot be read.
 */
export async function raiseFormat(
  store: MetadataStore,
  nodes: readonly ClusterNode[],
): Promise<number | undefined> {
  const entry = await store.get(CLUSTER_DOCUMENT);
  if (entry === undefined) return undefined;
  const cluster = decodeCluster(entry.value);
  const formatVersion = raisableFormat(cluster, nodes);
  if (formatVersion === cluster.formatVersion) return formatVersion;
  try {
    const bytes = encodeCluster({ ...cluster, formatVersion });
    await store.put(CLUSTER_DOCUMENT, bytes, entry.version);
    formatRaised(cluster.formatVersion, formatVersion);
    return formatVersion;
  } catch (error) {
    if (!isEngineError(error) || error.code !== 'conflict') throw error;
    return cluster.formatVersion;
  }
}
