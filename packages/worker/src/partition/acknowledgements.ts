/** What this partition owes to senders: one acknowledgement per sender and record, however many messages it held. */

import type { PartitionId } from '@engine/domain';

/** Tells `sender` that all its messages up to `upTo` are durable here. May get lost: the sender asks again. */
export type Acknowledge = (sender: PartitionId, upTo: number) => void;

export class Acknowledgements {
  readonly #acknowledge: Acknowledge;
  readonly #owed = new Map<PartitionId, number>();

  constructor(acknowledge: Acknowledge) {
    this.#acknowledge = acknowledge;
  }

  add(sender: PartitionId, upTo: number): void {
    this.#owed.set(sender, upTo);
  }

  flush(): void {
    if (this.#owed.size === 0) return;
    const owed = [...this.#owed];
    this.#owed.clear();
    for (const [sender, upTo] of owed) this.#acknowledge(sender, upTo);
  }
}
