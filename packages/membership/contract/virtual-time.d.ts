/** Clock and scheduler of a test: time passes only when the test says so, timer by timer. */
import type { Cancellable, Clock, Scheduler } from '@engine/runtime';
export declare class VirtualTime implements Clock, Scheduler {
  #private;
  now(): number;
  monotonic(): number;
  immediate(run: () => void): void;
  after(ms: number, run: () => void): Cancellable;
  /** Lets `ms` pass, and whatever they bring happen. */
  pass(ms: number): Promise<void>;
  /** The process stands still for `ms`: timers that were due run only afterwards. */
  standStill(ms: number): void;
  /** Lets time pass until the promise settles. Rejects when `limitMs` have passed before. */
  until<T>(promise: Promise<T>, limitMs?: number): Promise<T>;
  /** Lets time pass until `predicate` holds. Rejects when `limitMs` have passed before. */
  untilTrue(what: string, predicate: () => boolean, limitMs?: number): Promise<void>;
}
//# sourceMappingURL=virtual-time.d.ts.map
