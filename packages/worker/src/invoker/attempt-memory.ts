/** What one attempt holds of the memory for payloads, and what it waits for. */

import type { AttemptStart } from '@engine/attempt';

import { SMALL_PAYLOAD_BYTES_MAX, type MemoryPool, type PayloadMemory } from './payload-memory.js';

export class AttemptMemory {
  readonly #replayed: Claim;
  readonly #received: Claim;

  /** `onReplayed`: there is room for the start. `onReceived`: there is room for the message that comes. */
  constructor(memory: PayloadMemory, onReplayed: () => void, onReceived: () => void) {
    this.#replayed = new Claim(memory.replayed, onReplayed);
    this.#received = new Claim(memory.received, onReceived);
  }

  get isWaitingForStart(): boolean {
    return this.#replayed.isWaiting;
  }

  /** True while reading should rest. */
  get isWaitingForMessage(): boolean {
    return this.#received.isWaiting;
  }

  /** False: there is no room for the start yet. */
  holdStart(bytes: number): boolean {
    return this.#replayed.hold(bytes);
  }

  /** False: there is no room for a message of this size yet. 0 = none comes. */
  holdMessage(bytes: number): boolean {
    return this.#received.hold(bytes);
  }

  /** Bytes of received messages that are whole and not durable yet: `letGo` them when they are. */
  takeReceived(): number {
    return this.#received.take();
  }

  letGo(bytes: number): void {
    this.#received.giveBack(bytes);
  }

  /** The attempt is over. */
  end(): void {
    this.#replayed.end();
    this.#received.end();
  }
}

/** A part of a pool that is held as a whole. */
class Claim {
  readonly #pool: MemoryPool;
  readonly #onMemory: () => void;
  #heldBytes = 0;
  #askedBytes = 0;

  constructor(pool: MemoryPool, onMemory: () => void) {
    this.#pool = pool;
    this.#onMemory = onMemory;
  }

  get isWaiting(): boolean {
    return this.#askedBytes > 0;
  }

  hold(bytes: number): boolean {
    if (bytes <= SMALL_PAYLOAD_BYTES_MAX || bytes <= this.#heldBytes) return !this.isWaiting;
    if (this.isWaiting) return false;
    this.#giveAll();
    if (this.#pool.claim(this, bytes)) {
      this.#heldBytes = bytes;
      return true;
    }
    this.#askedBytes = bytes;
    return false;
  }

  onMemory(): void {
    this.#heldBytes = this.#askedBytes;
    this.#askedBytes = 0;
    this.#onMemory();
  }

  take(): number {
    const bytes = this.#heldBytes;
    this.#heldBytes = 0;
    return bytes;
  }

  giveBack(bytes: number): void {
    this.#pool.give(bytes);
  }

  end(): void {
    if (this.isWaiting) this.#pool.withdraw(this);
    this.#askedBytes = 0;
    this.#giveAll();
  }

  #giveAll(): void {
    if (this.#heldBytes > 0) this.#pool.give(this.#heldBytes);
    this.#heldBytes = 0;
  }
}

/** Bytes of the payloads that an attempt replays: journal and state. */
export function payloadBytesOf({
  journal,
  state,
}: Pick<AttemptStart, 'journal' | 'state'>): number {
  let bytes = 0;
  for (const [, value] of state.entries) bytes += value.length;
  for (const entry of journal) {
    if (entry.kind === 'input') bytes += entry.payload.length;
    else if (entry.kind === 'command') bytes += entry.raw.length;
    else if (entry.kind === 'output') {
      if (entry.result.kind === 'success') bytes += entry.result.value.length;
    } else if (entry.result.kind === 'value') bytes += entry.result.value.length;
  }
  return bytes;
}
