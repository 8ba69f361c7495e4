/** The one place where what the controller does is counted and logged. */

import type { NodeId, PartitionTable } from '@engine/domain';
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

export function tableWritten(
  table: PartitionTable,
  outcome: bigint | 'conflict' | 'unknown',
): void {
  const isWritten = typeof outcome === 'bigint';
  tables.add(1, { outcome: isWritten ? 'written' : outcome });
  const facts = { table: table.version, outcome: isWritten ? 'written' : outcome };
  log.info(facts, 'partition table');
}

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
  log.debug({ err: error }, 'the metadata store does not answer');
}

export function unreadableDocument(name: string, error: unknown): void {
  log.error({ document: name, err: error }, 'a document cannot be read; what was known stays');
}
