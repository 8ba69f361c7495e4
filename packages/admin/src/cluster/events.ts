/** The one place where what the controller does is counted and logged. */

import { isEngineError, type NodeId, type PartitionTable } from '@engine/domain';
import { counter, createLogger } from '@engine/telemetry';

const log = createLogger('admin:controller');

const tables = counter('engine_admin_partition_tables_total', {
  description: 'Writes of the partition table, by what came of them.',
  unit: '{write}',
});
const burials = counter('engine_admin_buried_nodes_total', {
  description: 'Nodes that were counted dead.',
  unit: '{node}',
});
const alarms = counter('engine_admin_cluster_alarms_total', {
  description: 'Alarms that ask for an operator.',
  unit: '{alarm}',
});
const storeFailures = counter('engine_admin_cluster_store_failures_total', {
  description: 'Reads and writes of the cluster documents that were not answered.',
  unit: '{operation}',
});

export function activityChanged(isActive: boolean): void {
  log.info(isActive ? 'this node is the controller' : 'this node is the controller no more');
}

/** `before`: the table that it replaces, as far as it is known. */
export function tableWritten(
  table: PartitionTable,
  before: PartitionTable | undefined,
  outcome: bigint | 'conflict' | 'unknown',
): void {
  const word = typeof outcome === 'bigint' ? 'written' : outcome;
  tables.add(1, { outcome: word });
  const facts = { table: table.version, outcome: word, moves: movesBetween(before, table) };
  log.info(facts, 'partition table');
}

/** Such as `3: w1 → w2, epoch 5`; the first ones. */
function movesBetween(before: PartitionTable | undefined, after: PartitionTable): string[] {
  const moves = after.partitions.flatMap(({ leader = '', epoch }, partition) => {
    const old = before?.partitions[partition];
    if (old?.epoch === epoch) return [];
    return [`${String(partition)}: ${old?.leader ?? ''} → ${leader}, epoch ${String(epoch)}`];
  });
  return moves.slice(0, MOVES_LOGGED_MAX);
}

const MOVES_LOGGED_MAX = 32;

export function nodeBuried(node: NodeId, isBuried: boolean): void {
  if (isBuried) {
    burials.add(1);
    log.warn({ node }, 'a node is counted dead');
  } else {
    log.info({ node }, 'a node that seemed dead has shown a sign of life');
  }
}

export function workersSilent(nodes: readonly NodeId[]): void {
  alarms.add(1, { kind: 'workers-silent' });
  log.error({ nodes }, 'more than half of the workers are silent; nothing is moved away yet');
}

export function formatRaised(from: number, to: number): void {
  log.info({ from, to }, 'every node reads a later format; it is in force');
}

export function ordersChanged(change: object): void {
  log.info(change, 'orders of an operator');
}

export function storeFailed(error: unknown): void {
  storeFailures.add(1);
  const isAway = isEngineError(error) && error.code === 'unavailable';
  if (isAway) log.debug({ err: error }, 'the metadata store does not answer');
  else log.error({ err: error }, 'a round of the controller failed');
}

export function unreadableDocument(name: string, error: unknown): void {
  log.error({ document: name, err: error }, 'a document cannot be read; what was known stays');
}
