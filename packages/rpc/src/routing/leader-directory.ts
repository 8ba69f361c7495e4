/** Who leads which partition, as far as this process knows. The table itself is a document of the cluster. */

import { toPartitionId, type PartitionId } from '@engine/domain';

/** A worker that can be reached. */
export interface WorkerAddress {
  readonly nodeId: string;
  /** `host:port`. */
  readonly address: string;
}

/** One state of the table; it never changes. */
export interface LeaderTable {
  readonly partitionCount: number;
  /** Undefined while nobody leads it. */
  leaderOf(partition: PartitionId): WorkerAddress | undefined;
}

export interface LeaderDirectory {
  readonly current: LeaderTable;
  /** `onChange` is called after each change of `current`. */
  watch(onChange: () => void): { cancel(): void };
  /** Somebody met a worker that does not lead what the table says. Effects: a newer table, if there is one, comes sooner. */
  refresh(): void;
}

/** Where the leaders are, without those of `ownNode`. */
export function workerAddresses(table: LeaderTable, ownNode: string | undefined): Set<string> {
  const addresses = new Set<string>();
  for (let id = 0; id < table.partitionCount; id += 1) {
    const leader = table.leaderOf(toPartitionId(id));
    if (leader !== undefined && leader.nodeId !== ownNode) addresses.add(leader.address);
  }
  return addresses;
}

/** A table in memory: for tests, and for who keeps one from elsewhere up to date. */
export class MemoryLeaderDirectory implements LeaderDirectory {
  readonly #watchers = new Set<() => void>();
  readonly #onRefresh: () => void;
  #current: LeaderTable;

  constructor(leaders: readonly (WorkerAddress | undefined)[], onRefresh = (): void => undefined) {
    this.#current = tableOf(leaders);
    this.#onRefresh = onRefresh;
  }

  get current(): LeaderTable {
    return this.#current;
  }

  /** `leaders`: by partition, as many as ever. */
  replace(leaders: readonly (WorkerAddress | undefined)[]): void {
    this.#current = tableOf(leaders);
    for (const onChange of [...this.#watchers]) onChange();
  }

  watch(onChange: () => void): { cancel(): void } {
    this.#watchers.add(onChange);
    return { cancel: () => this.#watchers.delete(onChange) };
  }

  refresh(): void {
    this.#onRefresh();
  }
}

function tableOf(leaders: readonly (WorkerAddress | undefined)[]): LeaderTable {
  const kept = [...leaders];
  return { partitionCount: kept.length, leaderOf: (partition) => kept[partition] };
}
