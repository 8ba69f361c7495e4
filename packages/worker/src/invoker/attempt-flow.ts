/**
 * Back-pressure of one attempt: its response is read only while what it said becomes durable fast enough, and while there is memory
 * for the large message that is coming.
 */

import type { CommandSink } from '../partition/command-queue.js';
import { AttemptMemory } from './attempt-memory.js';
import { Backlog } from './backlog.js';
import type { Exchange } from './deployment-transport.js';
import { SMALL_PAYLOAD_BYTES_MAX, type PayloadMemory } from './payload-memory.js';

export interface FlowRoom {
  readonly processor: CommandSink;
  readonly memory: PayloadMemory;
}

/** Who waits to start. */
export interface StartWaiter {
  /** There is room for a start for which there was none. */
  onStartRoom(): void;
}

export class AttemptFlow {
  readonly #room: FlowRoom;
  readonly #waiter: StartWaiter;
  readonly #backlog = new Backlog();
  /** Only of attempts with large payloads. */
  #memory: AttemptMemory | undefined;
  #exchange: Exchange | undefined;
  /** Bytes of the large message that is coming, for which memory is held or waited for; 0 = none. */
  #expectedBytes = 0;

  constructor(room: FlowRoom, waiter: StartWaiter) {
    this.#room = room;
    this.#waiter = waiter;
  }

  /** True while the start, or the message that comes, waits for memory. */
  get isWaitingForMemory(): boolean {
    const memory = this.#memory;
    return memory !== undefined && (memory.isWaitingForStart || memory.isWaitingForMessage);
  }

  /** True while the response is not read. */
  get isHeld(): boolean {
    return this.#backlog.isOver || this.#memory?.isWaitingForMessage === true;
  }

  /** False: there is no room for what the attempt replays; the waiter hears when there is. */
  holdStart(bytes: number): boolean {
    return bytes <= SMALL_PAYLOAD_BYTES_MAX || this.#memoryForPayloads().holdStart(bytes);
  }

  opened(exchange: Exchange): void {
    this.#exchange = exchange;
  }

  /** Something was read. `expectedBytes`: of a message that began to come; 0 = none. */
  received(expectedBytes: number): void {
    if (expectedBytes === this.#expectedBytes) return;
    if (this.#expectedBytes > 0) this.#letGoWhenDurable();
    this.#expectedBytes = expectedBytes > SMALL_PAYLOAD_BYTES_MAX ? expectedBytes : 0;
    if (this.#expectedBytes === 0) return;
    if (!this.#memoryForPayloads().holdMessage(expectedBytes)) this.#exchange?.pause();
  }

  /** Something that was said has been submitted and is not durable yet. */
  submitted(bytes: number): void {
    if (!this.#backlog.add(bytes)) return;
    this.#exchange?.pause();
    this.#whenDurable(() => {
      this.#backlog.clear();
      this.#resume();
    });
  }

  /** Nothing of what still comes counts: it is read to its end. The last message may not be durable yet. */
  drain(): void {
    if (this.isHeld) this.#exchange?.resume();
    this.#letGoWhenDurable();
    this.end();
  }

  /** Gives back all that is held, and leaves the exchange alone. */
  end(): void {
    this.#memory?.end();
    this.#exchange = undefined;
  }

  /** Reads on unless something else still keeps the attempt from it. */
  #resume(): void {
    if (!this.isHeld) this.#exchange?.resume();
  }

  #letGoWhenDurable(): void {
    const memory = this.#memory;
    const bytes = memory?.takeReceived() ?? 0;
    if (memory === undefined || bytes === 0) return;
    this.#whenDurable(() => {
      memory.letGo(bytes);
    });
  }

  #whenDurable(release: () => void): void {
    this.#room.processor.submit({ kind: 'Fence', release });
  }

  #memoryForPayloads(): AttemptMemory {
    this.#memory ??= new AttemptMemory(
      this.#room.memory,
      () => {
        this.#waiter.onStartRoom();
      },
      () => {
        this.#resume();
      },
    );
    return this.#memory;
  }
}
