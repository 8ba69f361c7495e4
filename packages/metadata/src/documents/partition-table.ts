/** The partition table, written by the controller, and what operators ask of it. */

import { PARTITION_COUNT_MAX, type PartitionTable, type PlacementOrders } from '@engine/domain';
import { z } from 'zod';

import { nodeIdText } from './node.js';
import { maybe, readDocument, writeDocument, type DocumentFormat } from './versioned.js';

/** Names of the documents in the metadata store. */
export const PARTITION_TABLE_DOCUMENT = 'partition-table';
export const PLACEMENT_ORDERS_DOCUMENT = 'placement-orders';

const EPOCH_MAX = 2n ** 63n - 1n;

const epoch = z
  .string()
  .regex(/^(?:0|[1-9]\d{0,18})$/)
  .transform((text) => BigInt(text))
  .refine((value) => value <= EPOCH_MAX);

const assignment = z
  .strictObject({
    leader: maybe(nodeIdText),
    epoch,
    standbys: z.array(nodeIdText),
    predecessors: z.array(nodeIdText),
  })
  .refine(({ leader, epoch: value }) => (leader === undefined) === (value === 0n))
  .refine(({ leader, standbys }) => leader === undefined || !standbys.includes(leader))
  .refine(({ standbys }) => new Set(standbys).size === standbys.length);

const TABLE: DocumentFormat<PartitionTable> = {
  what: 'the partition table',
  version: 1,
  schema: z
    .strictObject({
      version: z.literal(1),
      tableVersion: z.int().min(0),
      partitions: z.array(assignment).min(1).max(PARTITION_COUNT_MAX),
    })
    .transform(({ tableVersion, partitions }) => ({ version: tableVersion, partitions })),
};

const ORDERS: DocumentFormat<PlacementOrders> = {
  what: 'the document of placement orders',
  version: 1,
  schema: z
    .strictObject({
      version: z.literal(1),
      drained: z.array(nodeIdText),
      pins: z.array(
        z.strictObject({
          partition: z
            .int()
            .min(0)
            .max(PARTITION_COUNT_MAX - 1),
          node: nodeIdText,
        }),
      ),
      isFrozen: z.boolean(),
    })
    .transform(({ version: _, ...orders }) => orders),
};

/** Throws EngineError META0005 when the table is none that could be read back. */
export function encodePartitionTable({ version, partitions }: PartitionTable): Uint8Array {
  return writeDocument(TABLE, { tableVersion: version, partitions });
}

/** Throws EngineError META0010 when a newer server wrote it, META0005 when it is damaged. */
export function decodePartitionTable(bytes: Uint8Array): PartitionTable {
  return readDocument(TABLE, bytes);
}

/** Throws EngineError META0005 when the orders are none that could be read back. */
export function encodePlacementOrders(orders: PlacementOrders): Uint8Array {
  return writeDocument(ORDERS, orders);
}

/** Throws EngineError META0010 when a newer server wrote it, META0005 when it is damaged. */
export function decodePlacementOrders(bytes: Uint8Array): PlacementOrders {
  return readDocument(ORDERS, bytes);
}
