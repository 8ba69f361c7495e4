/**
 * Watches how late the event loop comes to what waits for it: everything this process does shares that one loop. A person
 * sees a warning for each time span with a block, and the worst of all when the process stops; a metrics SDK sees a histogram.
 */

import { monitorEventLoopDelay } from 'node:perf_hooks';

import { systemScheduler, type Cancellable } from '@engine/runtime';
import { createLogger, histogram } from '@engine/telemetry';

/** Longest time, in ms, that one piece of work may keep the loop: longer ones are a defect and are warned of. */
export const EVENT_LOOP_BLOCK_MS_MAX = 50;

/** Between two looks of the native timer, in ms. A block is measured as up to this much shorter than it was. */
const RESOLUTION_MS = 10;

/** A look at the measurements this often, so that a block is logged soon after it happened. */
const REPORT_MS = 1_000;

const NS_PER_MS = 1e6;

const log = createLogger('server:process');
const delays = histogram('engine_process_event_loop_delay_seconds', {
  description: 'Worst delay of the event loop in each second.',
  unit: 's',
});

export class EventLoopWatch implements Disposable {
  readonly #monitor: ReturnType<typeof monitorEventLoopDelay>;
  #timer: Cancellable;
  #worstMs = 0;
  #blockCount = 0;

  constructor() {
    this.#monitor = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    this.#monitor.enable();
    this.#timer = systemScheduler.after(REPORT_MS, this.#report);
  }

  /** Worst delay so far, in ms. */
  get worstMs(): number {
    this.#read();
    return this.#worstMs;
  }

  /** Logs the worst delay so far. */
  sayWorst(): void {
    const { worstMs } = this;
    log.info({ worstMs, secondsWithBlock: this.#blockCount }, 'worst event loop delay');
  }

  [Symbol.dispose](): void {
    this.#timer.cancel();
    this.#monitor.disable();
  }

  readonly #report = (): void => {
    this.#read();
    this.#timer = systemScheduler.after(REPORT_MS, this.#report);
  };

  /** Takes what was measured since the last look. */
  #read(): void {
    if (this.#monitor.count === 0) return;
    // What is measured is the time between two looks; all above the intended one is delay.
    const delayMs = Math.max(0, Math.round(this.#monitor.max / NS_PER_MS) - RESOLUTION_MS);
    this.#monitor.reset();
    delays.record(delayMs / 1_000);
    this.#worstMs = Math.max(this.#worstMs, delayMs);
    if (delayMs <= EVENT_LOOP_BLOCK_MS_MAX) return;
    this.#blockCount += 1;
    log.warn({ delayMs, limitMs: EVENT_LOOP_BLOCK_MS_MAX }, 'the event loop was blocked');
  }
}
