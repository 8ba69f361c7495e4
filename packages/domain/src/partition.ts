/** Partitions: contiguous ranges of the 64-bit partition key (docs/design/log-and-epochs.md). */

declare const partitionId: unique symbol;

/** Number of a partition, 0 ≤ id < count. */
export type PartitionId = number & { readonly [partitionId]: true };

export const PARTITION_COUNT_MAX = 65_535;

export function toPartitionId(value: number): PartitionId {
  return value as PartitionId;
}
