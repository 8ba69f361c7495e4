/** Where the leaders are: the table with the addresses of its nodes. */

import type { NodeId, PartitionId } from '@engine/domain';

import type { ClusterView } from './cluster-view.js';
import { Listeners } from './listeners.js';

/** A worker that can be reached. */
export interface LeaderAddress {
  readonly nodeId: string;
  /** `host:port`. */
  readonly address: string;
}

/** One state of the table; it never changes. */
export interface LeaderAddresses {
  readonly partitionCount: number;
  /** Undefined while nobody leads it, or nobody knows where its leader is. */
  leaderOf(partition: PartitionId): LeaderAddress | undefined;
}

export class TableDirectory implements Disposable {
  readonly #view: ClusterView;
  readonly #partitionCount: number;
  readonly #changes = new Listeners<void>();
  readonly #watches: readonly Disposable[];
  #leaders: readonly (LeaderAddress | undefined)[];
  #current: LeaderAddresses;

  /** `partitionCount`: of the cluster; the table may not be there yet. */
  constructor(view: ClusterView, partitionCount: number) {
    this.#view = view;
    this.#partitionCount = partitionCount;
    this.#leaders = this.#read();
    this.#current = addressesOf(this.#leaders);
    const update = (): void => {
      this.#update();
    };
    this.#watches = [view.onTable(update), view.onNodes(update)];
  }

  get current(): LeaderAddresses {
    return this.#current;
  }

  /** `onChange` is called after each change of `current`. */
  watch(onChange: () => void): { cancel(): void } {
    const listening = this.#changes.add(onChange);
    return {
      cancel: () => {
        listening[Symbol.dispose]();
      },
    };
  }

  /** Reads table and nodes anew; askers of one moment share one reading. */
  refresh(): void {
    void this.#view.refresh();
  }

  [Symbol.dispose](): void {
    for (const watch of this.#watches) watch[Symbol.dispose]();
  }

  #update(): void {
    const leaders = this.#read();
    if (leaders.every((leader, partition) => isSame(leader, this.#leaders[partition]))) return;
    this.#leaders = leaders;
    this.#current = addressesOf(leaders);
    this.#changes.tell();
  }

  #read(): (LeaderAddress | undefined)[] {
    const { table } = this.#view;
    return Array.from({ length: this.#partitionCount }, (_, partition) =>
      this.#addressOf(table?.partitions[partition]?.leader),
    );
  }

  #addressOf(leader: NodeId | undefined): LeaderAddress | undefined {
    const node = leader === undefined ? undefined : this.#view.node(leader);
    return node === undefined ? undefined : { nodeId: node.id, address: node.addresses.internal };
  }
}

function addressesOf(leaders: readonly (LeaderAddress | undefined)[]): LeaderAddresses {
  return { partitionCount: leaders.length, leaderOf: (partition) => leaders[partition] };
}

function isSame(a: LeaderAddress | undefined, b: LeaderAddress | undefined): boolean {
  return a?.nodeId === b?.nodeId && a?.address === b?.address;
}
