/** The last object of a snapshot: what it is a snapshot of, and what belongs to it. One line with the checksum of the rest, then JSON. */

import { toPartitionId } from '@engine/domain';
import type { LogPosition } from '@engine/log';
import { readsPartitionFormat } from '@engine/storage';
import { decodeUtf8Strict, encodeUtf8 } from '@engine/stdx';
import { z } from 'zod';

import type { SnapshotOwner } from './object-names.js';
import { DamagedSnapshot, sha256Of, type SegmentSummary } from './segment.js';

/** Format of manifests and segments that this code writes and reads. */
const SNAPSHOT_FORMAT = 1;

export interface SnapshotManifest {
  readonly owner: SnapshotOwner;
  /** Format of the rows. */
  readonly partitionFormat: number;
  /** Who took it. */
  readonly node: string;
  /** When its last row had been read, in ms since 1970. */
  readonly takenAt: number;
  /** Up to where the log is applied to the rows. */
  readonly position: LogPosition;
  /** What the partition had ever written, as its position row says. */
  readonly writtenBytes: number;
  readonly segments: readonly SegmentSummary[];
}

/** A snapshot that counts. */
export interface Snapshot {
  readonly name: string;
  readonly manifest: SnapshotManifest;
}

const bigintText = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform(BigInt);
const count = z.int().min(0);
const format = z.object({ format: z.int(), partitionFormat: z.int() });
const document = z.object({
  cluster: z.string(),
  partition: count,
  incarnation: bigintText,
  partitionFormat: z.int(),
  node: z.string(),
  takenAt: z.number(),
  position: z.object({ epoch: bigintText, sequence: bigintText, chain: bigintText }),
  writtenBytes: z.number(),
  segments: z.array(
    z.object({ rows: count, bytes: count, storedBytes: count, sha256: z.string() }),
  ),
});

export async function encodeManifest(manifest: SnapshotManifest): Promise<Uint8Array> {
  const { owner, position, ...rest } = manifest;
  const { cluster, partition, incarnation } = owner;
  const { epoch, sequence, chain } = position;
  const body = JSON.stringify(
    {
      format: SNAPSHOT_FORMAT,
      cluster,
      partition,
      incarnation: String(incarnation),
      position: { epoch: String(epoch), sequence: String(sequence), chain: String(chain) },
      ...rest,
    },
    undefined,
    1,
  );
  return encodeUtf8(`${await sha256Of(encodeUtf8(body))}\n${body}\n`);
}

/** Throws DamagedSnapshot when this is no manifest of `owner`, or one that this code cannot read. */
export async function decodeManifest(
  bytes: Uint8Array,
  owner: SnapshotOwner,
): Promise<SnapshotManifest> {
  const parsed = document.safeParse(await bodyOf(bytes));
  if (!parsed.success) throw new DamagedSnapshot('the manifest is none', { cause: parsed.error });
  const { cluster, partition, incarnation, ...rest } = parsed.data;
  const isOwn =
    cluster === owner.cluster && partition === owner.partition && incarnation === owner.incarnation;
  if (!isOwn) throw new DamagedSnapshot('the manifest is that of another partition');
  return { owner: { cluster, incarnation, partition: toPartitionId(partition) }, ...rest };
}

async function bodyOf(bytes: Uint8Array): Promise<unknown> {
  let body: string;
  let sum: string;
  try {
    const text = decodeUtf8Strict(bytes);
    [sum = '', body = ''] = [text.slice(0, 64), text.slice(65, -1)];
  } catch (cause) {
    throw new DamagedSnapshot('the manifest is no text', { cause });
  }
  if ((await sha256Of(encodeUtf8(body))) !== sum) {
    throw new DamagedSnapshot('the manifest was changed');
  }
  const json: unknown = JSON.parse(body);
  const { data } = format.safeParse(json);
  if (data?.format !== SNAPSHOT_FORMAT || !readsPartitionFormat(data.partitionFormat)) {
    throw new DamagedSnapshot('the snapshot has a format that this server does not read');
  }
  return json;
}
