/**
 * How two nodes make sure that they fit. Both ends say who they are in the metadata of every call; each end checks, so that a
 * mistake shows in both logs. Nothing else of a call is looked at before.
 */

import { EngineError } from '@engine/domain';
import { Metadata } from '@grpc/grpc-js';

/** Versions from `min` to `max`, both included. */
export interface VersionRange {
  readonly min: number;
  readonly max: number;
}

/** What a node says of itself. */
export interface Introduction {
  readonly clusterName: string;
  readonly nodeId: string;
  /** Of what roles say to each other (proto/engine/worker). */
  readonly protocol: VersionRange;
  /** Of records and rows that the node reads. */
  readonly storeFormat: VersionRange;
}

/** Another node, and the version of the protocol that both speak. */
export interface KnownNode extends Introduction {
  readonly version: number;
}

/** Versions of proto/engine/worker that this build speaks. */
export const ROLE_PROTOCOL: VersionRange = { min: 1, max: 1 };

const CLUSTER = 'engine-cluster';
const NODE = 'engine-node';
const PROTOCOL = 'engine-protocol';
const STORE_FORMAT = 'engine-store-format';

const RANGE = /^(\d{1,9})-(\d{1,9})$/;

export function introductionToMetadata(mine: Introduction): Metadata {
  const metadata = new Metadata();
  metadata.set(CLUSTER, encodeURIComponent(mine.clusterName));
  metadata.set(NODE, encodeURIComponent(mine.nodeId));
  metadata.set(PROTOCOL, rangeText(mine.protocol));
  metadata.set(STORE_FORMAT, rangeText(mine.storeFormat));
  return metadata;
}

/**
 * The other end, when it fits. Throws EngineError `wrong-cluster` when it belongs to another cluster, `incompatible` when it
 * is no node of this kind, or no version is common to both.
 */
export function meet(mine: Introduction, metadata: Metadata): KnownNode {
  const theirs = introductionFromMetadata(metadata);
  if (theirs === undefined) {
    throw new EngineError('incompatible', 'the other end does not say which node it is');
  }
  const { clusterName, nodeId } = theirs;
  if (clusterName !== mine.clusterName) {
    throw new EngineError(
      'wrong-cluster',
      `node ${nodeId} belongs to cluster '${clusterName}', this is node ${mine.nodeId} of cluster '${mine.clusterName}'`,
      { details: { theirs: clusterName, mine: mine.clusterName } },
    );
  }
  requireCommon('store formats', mine.storeFormat, theirs);
  return { ...theirs, version: requireCommon('protocol versions', mine.protocol, theirs) };
}

function requireCommon(
  what: 'store formats' | 'protocol versions',
  mine: VersionRange,
  node: Introduction,
): number {
  const theirs = what === 'store formats' ? node.storeFormat : node.protocol;
  const newest = Math.min(mine.max, theirs.max);
  if (newest >= Math.max(mine.min, theirs.min)) return newest;
  throw new EngineError(
    'incompatible',
    `node ${node.nodeId} has ${what} ${rangeText(theirs)}, this node has ${rangeText(mine)}: upgrade the older one first`,
    { details: { what, theirs: rangeText(theirs), mine: rangeText(mine) } },
  );
}

function introductionFromMetadata(metadata: Metadata): Introduction | undefined {
  const protocol = rangeOf(textOf(metadata, PROTOCOL));
  const storeFormat = rangeOf(textOf(metadata, STORE_FORMAT));
  const clusterName = decoded(textOf(metadata, CLUSTER));
  const nodeId = decoded(textOf(metadata, NODE));
  if (protocol === undefined || storeFormat === undefined) return undefined;
  if (clusterName === undefined || nodeId === undefined) return undefined;
  return { clusterName, nodeId, protocol, storeFormat };
}

function textOf(metadata: Metadata, key: string): string {
  const [value] = metadata.get(key);
  return typeof value === 'string' ? value : '';
}

function decoded(text: string): string | undefined {
  if (text === '') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function rangeText({ min, max }: VersionRange): string {
  return `${String(min)}-${String(max)}`;
}

function rangeOf(text: string): VersionRange | undefined {
  const match = RANGE.exec(text);
  return match === null ? undefined : { min: Number(match[1]), max: Number(match[2]) };
}
