/**
 * Slots for the attempts of a partition. An attempt holds its slot until its end is durable, so the next attempt of an
 * invocation never starts before everything the last one said is stored.
 *
 * Waiting attempts queue in memory up to a limit; when the queue overflows, the index of active invocations is read again.
 *
 * It begins held: nothing starts before `resume`. What is held is forgotten, because the index knows it.
 */

import type { InvocationId } from '@engine/domain';
import type { ConfirmCommand, PushNotification } from '@engine/state-machine';

import { onAttemptStarted } from '../events.js';
import { AttemptDriver, type SlotOwner } from './attempt-driver.js';
import type { AttemptRoom } from './attempt-room.js';

/** A page is started in one turn of the event loop, about 80 µs each. */
const PAGE_LENGTH_MAX = 128;

export interface InvokerDependencies {
  readonly room: AttemptRoom;
  readonly onFatal: (error: unknown) => void;
}

export class Invoker implements SlotOwner {
  readonly #room: AttemptRoom;
  readonly #onFatal: (error: unknown) => void;
  readonly #slotCount: number;
  readonly #waitingMax: number;
  /** A page of the index always fits into half of the queue. */
  readonly #pageLength: number;
  /** Attempts that hold a slot. */
  readonly #running = new Map<InvocationId, AttemptDriver>();
  /** Attempts that will get one, first come, first served. */
  readonly #waiting = new Map<InvocationId, number>();
  /** True when an attempt found the queue full: only the store knows of it. */
  #hasOverflowed = false;
  #isScanning = false;
  #isFilling = false;
  #isHeld = true;
  #isStopped = false;

  constructor({ room, onFatal }: InvokerDependencies) {
    this.#room = room;
    this.#onFatal = onFatal;
    this.#slotCount = room.options.concurrentInvocationsMax;
    this.#waitingMax = room.options.waitingAttemptsMax;
    this.#pageLength = Math.max(1, Math.min(PAGE_LENGTH_MAX, Math.floor(this.#waitingMax / 2)));
  }

  get runningCount(): number {
    return this.#running.size;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** The attempt that holds a slot for an invocation. */
  running(id: InvocationId): AttemptDriver | undefined {
    return this.#running.get(id);
  }

  /** Starts the attempts that the store knows as active, and takes new ones. Resolves when they run or wait for a slot. */
  async resume(): Promise<void> {
    if (!this.#isHeld || this.#isStopped) return;
    this.#isHeld = false;
    // An earlier reading of the index that still goes on is followed by another one.
    if (this.#isScanning) return;
    this.#hasOverflowed = false;
    this.#isScanning = true;
    await this.#scan();
    this.#scanned();
  }

  /** Drops what runs and what waits, without a word to the partition, and starts nothing until `resume`. */
  hold(): void {
    this.#isHeld = true;
    this.#hasOverflowed = true;
    this.#drop();
  }

  start(id: InvocationId, attempt: number): void {
    if (this.#isHeld || this.#isStopped) return;
    const earlier = this.#running.get(id);
    if (earlier !== undefined) {
      if (earlier.attempt >= attempt) return;
      this.#running.delete(id);
      if (earlier.isInFlight) earlier.abort();
    }
    if (this.#waiting.size === 0 && this.#running.size < this.#slotCount) {
      this.#launch(id, attempt);
      return;
    }
    if (!this.#waiting.has(id) && this.#waiting.size >= this.#waitingMax) {
      this.#hasOverflowed = true;
      return;
    }
    this.#waiting.set(id, attempt);
    this.#fill();
  }

  /** Drops an attempt and any earlier one. */
  abort(id: InvocationId, attempt: number): void {
    const waiting = this.#waiting.get(id);
    if (waiting !== undefined && waiting <= attempt) this.#waiting.delete(id);
    const driver = this.#running.get(id);
    if (driver === undefined || driver.attempt > attempt) return;
    driver.abort();
    this.release(driver);
  }

  push(action: PushNotification): void {
    const driver = this.#running.get(action.invocationId);
    if (driver?.attempt === action.attempt) driver.pushNotification(action);
  }

  confirm(action: ConfirmCommand): void {
    if (!action.ackRequested) return;
    const driver = this.#running.get(action.invocationId);
    if (driver?.attempt === action.attempt) driver.confirmCommand(action.commandIndex);
  }

  release(driver: AttemptDriver): void {
    if (this.#running.get(driver.invocationId) !== driver) return;
    this.#running.delete(driver.invocationId);
    this.#fill();
  }

  /** Starts nothing more and drops what runs, without a word to the partition. */
  stop(): void {
    this.#isStopped = true;
    this.#drop();
  }

  #drop(): void {
    this.#waiting.clear();
    for (const driver of [...this.#running.values()]) driver.abort();
    this.#running.clear();
  }

  #fill(): void {
    if (this.#isFilling || this.#isHeld || this.#isStopped) return;
    this.#isFilling = true;
    while (this.#running.size < this.#slotCount) {
      const next = this.#waiting.entries().next();
      if (next.done === true) break;
      const [invocationId, attempt] = next.value;
      this.#waiting.delete(invocationId);
      this.#launch(invocationId, attempt);
    }
    this.#isFilling = false;
    if (this.#hasOverflowed && this.#waiting.size <= this.#waitingMax / 2) this.#rescan();
  }

  #launch(invocationId: InvocationId, attempt: number): void {
    const driver = new AttemptDriver({ invocationId, attempt }, this.#room, this);
    this.#running.set(invocationId, driver);
    onAttemptStarted();
    driver.start();
  }

  #rescan(): void {
    if (this.#isScanning) return;
    this.#isScanning = true;
    this.#hasOverflowed = false;
    this.#scan().then(() => {
      this.#scanned();
    }, this.#onFatal);
  }

  /** What overflowed meanwhile, while slots fell free, asks for another look. */
  #scanned(): void {
    this.#isScanning = false;
    this.#fill();
  }

  /** What is decided now is durable when the fence is released; what changed since is another decision's to start. */
  #startWhenDurable(candidates: readonly Candidate[]): Promise<void> {
    if (candidates.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#room.processor.submit({
        kind: 'Fence',
        release: () => {
          this.#consider(candidates);
          resolve();
        },
      });
    });
  }

  /** Reads the index of active invocations page by page, as long as there is room for more. */
  async #scan(): Promise<void> {
    let after: InvocationId | undefined;
    while (!this.#isStopped && !this.#isHeld) {
      if (!this.#hasRoomForPage()) {
        this.#hasOverflowed = true;
        return;
      }
      const page = await this.#room.scan.active(after, this.#pageLength);
      await this.#startWhenDurable(this.#candidates(page));
      after = page.at(-1);
      if (page.length < this.#pageLength) return;
    }
  }

  #hasRoomForPage(): boolean {
    return this.#waiting.size + this.#pageLength <= this.#waitingMax;
  }

  #candidates(ids: readonly InvocationId[]): Candidate[] {
    const candidates: Candidate[] = [];
    for (const id of ids) {
      const attempt = this.#attemptToStart(id);
      if (attempt !== undefined) candidates.push({ id, attempt });
    }
    return candidates;
  }

  #consider(candidates: readonly Candidate[]): void {
    for (const { id, attempt } of candidates) {
      if (this.#attemptToStart(id) === attempt) this.start(id, attempt);
    }
  }

  /** Undefined when the invocation has its attempt, or a timer that will bring it. */
  #attemptToStart(id: InvocationId): number | undefined {
    if (this.#running.has(id) || this.#waiting.has(id)) return undefined;
    const row = this.#room.state.invocation(id);
    if (row?.status !== 'invoked' || row.retry?.nextAttemptAt !== undefined) return undefined;
    return row.attempt;
  }
}

interface Candidate {
  readonly id: InvocationId;
  readonly attempt: number;
}
