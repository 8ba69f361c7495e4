/**
 * The one registry of key prefixes. Numbers retire, they never return: a retired one stays here, struck out.
 *
 * A store key is: layout (1 byte), partition (2), generation (2), table (1), key of the row. Keys inside records begin at the
 * table, because another store may keep the same partition under another generation.
 */

import type { PartitionId } from '@engine/domain';

import type { TableName } from './mutation.js';

/** First byte of a key: which kind of data follows, in which layout. */
export const LAYOUTS = {
  /** Rows of partitions. */
  partition: 1,
  /** Documents of the embedded metadata store. */
  metadata: 2,
  /** Which generation of a partition is current: one row for each. */
  generation: 3,
} as const;

/** Tables of a partition: those that decisions write, then those that storage and log keep for themselves. */
export const TABLES = {
  invocation: 1,
  active: 2,
  journal: 3,
  notification: 4,
  'object-lock': 5,
  inbox: 6,
  state: 7,
  'state-directory': 8,
  promise: 9,
  'promise-directory': 10,
  timer: 11,
  outbox: 12,
  'outbox-cursor': 13,
  inbound: 14,
  /** Further pieces of rows that are larger than one piece. */
  chunk: 128,
  /** Up to where the log is applied: one row. */
  position: 129,
  /** Sequence → value of the log's chain. */
  chain: 130,
  /** Time of the last record: one row, where several leaders write one after the other. */
  'record-time': 131,
} as const satisfies Readonly<Record<TableName, number>> & Readonly<Record<string, number>>;

/** Format of the rows of a partition that this code writes: keys and values. Numbers retire, they never return. */
export const PARTITION_FORMAT = 1;

/** Oldest format of rows that this code reads. */
const PARTITION_FORMAT_MIN = 1;

/** True when this code reads rows of the format. */
export function readsPartitionFormat(format: number): boolean {
  return format >= PARTITION_FORMAT_MIN && format <= PARTITION_FORMAT;
}

/** Where the rows of a partition stand in a store. A restore fills a new generation beside the current one. */
export interface PartitionPlace {
  readonly partition: PartitionId;
  readonly generation: number;
}

/** Length of what `partitionPrefix` returns. */
export const PARTITION_PREFIX_BYTES = 5;

/** What the keys of all rows of a partition begin with. */
export function partitionPrefix(place: PartitionPlace): Uint8Array {
  const { partition, generation } = place;
  const layout = LAYOUTS.partition;
  return Uint8Array.of(layout, partition >> 8, partition, generation >> 8, generation);
}

/** Key of the row that names the current generation of a partition. */
export function generationKey(partition: PartitionId): Uint8Array {
  return Uint8Array.of(LAYOUTS.generation, partition >> 8, partition);
}

/** The smallest key above all keys that begin with `prefix`. The prefix must not be all 0xff. */
export function prefixEnd(prefix: Uint8Array): Uint8Array {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length--;
  const end = prefix.slice(0, length);
  end[length - 1] = (end[length - 1] ?? 0) + 1;
  return end;
}
