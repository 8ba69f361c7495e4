/**
 * The timers of a partition that come due next. A bounded window of them is in memory, the rest stays in the store and is
 * loaded by key when the window runs low, so that timers of the far future (retention) cost no memory.
 *
 * Invariant: every durable timer with a key up to `#end` is in the heap or has been fired; `#end` undefined = every one.
 */

import { compareTimerKeys, type TimerKey } from '@engine/domain';
import type { Cancellable, Clock, Scheduler } from '@engine/runtime';
import { BinaryHeap, type HeapHandle } from '@engine/stdx';

import type { CommandSink } from './command-queue.js';

/** Timers kept in memory after a load or a trim; at times the window holds twice as many. About 200 bytes each. */
export const TIMERS_IN_MEMORY_MAX = 4_096;

/** Timers fired in one turn of the event loop: a crowd that is due at once must not keep others waiting. */
const FIRED_AT_ONCE_MAX = 512;

/** The clock is looked at again at least this often, because it may have been set or the machine may have slept. */
const RECHECK_MS_MAX = 5 * 60_000;

export interface StoredTimer {
  readonly key: TimerKey;
  readonly incarnation: number;
}

export interface TimerDependencies {
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly sink: CommandSink;
  /** Durable timers after a key, in key order. */
  readonly scan: (after: TimerKey | undefined, limit: number) => Promise<readonly StoredTimer[]>;
  readonly onFatal: (error: unknown) => void;
}

export class TimerWindow {
  readonly #dependencies: TimerDependencies;
  readonly #inMemoryMax: number;
  readonly #heap = new BinaryHeap<StoredTimer>((a, b) => compareTimerKeys(a.key, b.key));
  readonly #handles = new Map<string, HeapHandle<StoredTimer>>();
  #end: TimerKey | undefined;
  /** Timers set and cancelled while a load was on its way. */
  #loading: { readonly set: StoredTimer[]; readonly cancelled: Set<string> } | undefined;
  #armed: Cancellable | undefined;
  #armedFor = Number.POSITIVE_INFINITY;
  #isStopped = false;

  constructor(options: { readonly inMemoryMax: number }, dependencies: TimerDependencies) {
    this.#inMemoryMax = options.inMemoryMax;
    this.#dependencies = dependencies;
  }

  get size(): number {
    return this.#heap.size;
  }

  /** Loads the first window from the store. Call once, before any command is decided. */
  async start(): Promise<void> {
    await this.#load();
    this.#arm();
  }

  stop(): void {
    this.#isStopped = true;
    this.#armed?.cancel();
  }

  /** A timer became durable. */
  schedule(key: TimerKey, incarnation: number): void {
    if (this.#end !== undefined && compareTimerKeys(key, this.#end) > 0) {
      this.#loading?.set.push({ key, incarnation });
      return;
    }
    this.#add({ key, incarnation });
    if (this.#heap.size > this.#inMemoryMax * 2 && this.#loading === undefined) this.#trim();
    if (key.dueAt < this.#armedFor) this.#arm();
  }

  /** A timer was removed from the store without having fired. */
  cancel(key: TimerKey): void {
    const text = keyText(key);
    const handle = this.#handles.get(text);
    if (handle === undefined) {
      this.#loading?.cancelled.add(text);
      return;
    }
    this.#handles.delete(text);
    this.#heap.remove(handle);
    this.#refill();
  }

  #add(timer: StoredTimer): void {
    const text = keyText(timer.key);
    if (!this.#handles.has(text)) this.#handles.set(text, this.#heap.push(timer));
  }

  /** Keeps the earliest timers and leaves the others to the store. */
  #trim(): void {
    const kept: StoredTimer[] = [];
    while (kept.length < this.#inMemoryMax) {
      const timer = this.#heap.pop();
      if (timer === undefined) break;
      kept.push(timer);
    }
    this.#heap.clear();
    this.#handles.clear();
    for (const timer of kept) this.#add(timer);
    this.#end = kept.at(-1)?.key;
  }

  #arm(): void {
    this.#armed?.cancel();
    this.#armed = undefined;
    this.#armedFor = Number.POSITIVE_INFINITY;
    const first = this.#heap.peek();
    if (first === undefined || this.#isStopped) return;
    const { clock, scheduler } = this.#dependencies;
    const delayMs = Math.min(Math.ceil(Math.max(first.key.dueAt - clock.now(), 0)), RECHECK_MS_MAX);
    this.#armedFor = first.key.dueAt;
    this.#armed = scheduler.after(delayMs, this.#fire);
  }

  readonly #fire = (): void => {
    if (this.#isStopped) return;
    const now = this.#dependencies.clock.now();
    for (let fired = 0; fired < FIRED_AT_ONCE_MAX; fired += 1) {
      const first = this.#heap.peek();
      if (first === undefined || first.key.dueAt > now) break;
      this.#heap.pop();
      this.#handles.delete(keyText(first.key));
      const { key, incarnation } = first;
      this.#dependencies.sink.submit({ kind: 'TimerFired', at: now, key, incarnation });
    }
    this.#arm();
    this.#refill();
  };

  #refill(): void {
    const isLow = this.#heap.size <= this.#inMemoryMax / 4;
    if (!isLow || this.#end === undefined || this.#loading !== undefined || this.#isStopped) return;
    this.#load().then(() => {
      this.#arm();
    }, this.#dependencies.onFatal);
  }

  async #load(): Promise<void> {
    const meanwhile = { set: [] as StoredTimer[], cancelled: new Set<string>() };
    this.#loading = meanwhile;
    const loaded = await this.#dependencies.scan(this.#end, this.#inMemoryMax);
    this.#loading = undefined;
    const isLast = loaded.length < this.#inMemoryMax;
    const end = isLast ? undefined : loaded.at(-1)?.key;
    this.#end = end;
    for (const timer of loaded) {
      if (!meanwhile.cancelled.has(keyText(timer.key))) this.#add(timer);
    }
    for (const timer of meanwhile.set) {
      const isInWindow = end === undefined || compareTimerKeys(timer.key, end) <= 0;
      if (isInWindow && !meanwhile.cancelled.has(keyText(timer.key))) this.#add(timer);
    }
  }
}

function keyText(key: TimerKey): string {
  return `${String(key.dueAt)} ${key.kind} ${key.invocationId} ${String(key.index)}`;
}
