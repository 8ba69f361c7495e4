/** What waits to be decided in a partition, in the order in which it came. Bounded by number and by payloads. */

import { limits } from '@engine/domain';
import type { Command } from '@engine/state-machine';
import { assert, BoundedQueue } from '@engine/stdx';

import { payloadBytesOfCommand } from './command-bytes.js';

/** Room in the queue beyond what the outside may fill, for attempts, timers and acknowledgements of the partition itself. */
const INTERNAL_COMMANDS_MAX = 4 * 1024 * 1024;

/** Something to do once everything that was submitted before it is durable and released. */
export interface Fence {
  readonly kind: 'Fence';
  release(): void;
}

export type Submission = Command | Fence;

/** Who takes the commands of the rooms around the processor. */
export interface CommandSink {
  /** Takes ownership of the command: `at` is written when it is decided. Never refuses: its callers have limits of their own. */
  submit(submission: Submission): void;
}

export class CommandQueue {
  readonly #bytesMax: number;
  readonly #waiting = new BoundedQueue<Submission>(
    limits.PARTITION_QUEUE_LENGTH_MAX + INTERNAL_COMMANDS_MAX,
  );
  #bytes = 0;

  /** `bytesMax`: of the payloads of what waits. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get isEmpty(): boolean {
    return this.#waiting.isEmpty;
  }

  /** True when a command from outside finds its place. A payload that is alone has room whatever its size. */
  hasRoomFor(command: Command): boolean {
    if (this.#waiting.length >= limits.PARTITION_QUEUE_LENGTH_MAX) return false;
    return this.#bytes === 0 || this.#bytes + payloadBytesOfCommand(command) <= this.#bytesMax;
  }

  push(submission: Submission): void {
    assert(this.#waiting.push(submission), 'the rooms of a partition keep their own limits');
    if (submission.kind !== 'Fence') this.#bytes += payloadBytesOfCommand(submission);
  }

  shift(): Submission | undefined {
    const submission = this.#waiting.shift();
    if (submission !== undefined && submission.kind !== 'Fence') {
      this.#bytes -= payloadBytesOfCommand(submission);
    }
    return submission;
  }

  clear(): void {
    this.#waiting.clear();
    this.#bytes = 0;
  }
}
