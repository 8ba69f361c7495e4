/** Names of the objects of snapshots: cluster, log incarnation, partition, snapshot. Nothing else in the house spells one. */

import { EngineError, type PartitionId } from '@engine/domain';
import { encodeUtf8 } from '@engine/stdx';

import { OBJECT_NAME_LENGTH_MAX } from './limits.js';

/** Whose snapshots: those of two clusters, or of two incarnations of a log, never mix. */
export interface SnapshotOwner {
  readonly cluster: string;
  /** Of the log. */
  readonly incarnation: bigint;
  readonly partition: PartitionId;
}

const MANIFEST = 'manifest.json';
const SEQUENCE_DIGITS = 20;

/** What the names of all objects of a partition begin with. */
export function ownerPrefix({ cluster, incarnation, partition }: SnapshotOwner): string {
  return `${token(cluster)}/log-${String(incarnation)}/partition-${String(partition)}/`;
}

/** Name of a snapshot: it sorts by the sequence that it holds at least, and no two nodes make the same. */
export function snapshotName(sequence: bigint, nonce: string): string {
  return `${String(sequence).padStart(SEQUENCE_DIGITS, '0')}-${nonce}`;
}

export function manifestObject(prefix: string, snapshot: string): string {
  return `${prefix}${snapshot}/${MANIFEST}`;
}

export function segmentObject(prefix: string, snapshot: string, index: number): string {
  return `${prefix}${snapshot}/${String(index).padStart(6, '0')}.zst`;
}

/** Objects of one snapshot, as a listing shows them. */
export interface ListedSnapshot {
  readonly name: string;
  readonly hasManifest: boolean;
  readonly objects: readonly string[];
}

/** The snapshots of a listing, newest first. */
export function listedSnapshots(prefix: string, objects: readonly string[]): ListedSnapshot[] {
  const byName = Map.groupBy(objects, (object) => object.slice(prefix.length).split('/')[0] ?? '');
  return [...byName]
    .map(([name, own]) => ({
      name,
      hasManifest: own.includes(manifestObject(prefix, name)),
      objects: own,
    }))
    .sort((a, b) => (a.name < b.name ? 1 : -1));
}

/** Throws EngineError `storage` for a name that no ObjectStore takes. */
export function requireObjectName(name: string): void {
  const isFit =
    name.length <= OBJECT_NAME_LENGTH_MAX &&
    name.split('/').every((word) => /^[\w.=-]+$/.test(word) && word !== '.' && word !== '..');
  if (!isFit) throw new EngineError('storage', `'${name.slice(0, 100)}' cannot name an object`);
}

/** Letters, digits and `-` as they are, every other byte as `=` and two hex digits. */
function token(text: string): string {
  let out = '';
  for (const byte of encodeUtf8(text)) {
    const char = String.fromCharCode(byte);
    out += /[A-Za-z0-9-]/.test(char) ? char : `=${byte.toString(16).padStart(2, '0')}`;
  }
  return out;
}
