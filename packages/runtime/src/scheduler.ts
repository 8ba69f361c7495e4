/** What was scheduled and may still be called off. */
export interface Cancellable {
  /** After this the function does not run. Harmless when it already ran. */
  cancel(): void;
}

/** The only door to "later". A test or a simulation supplies its own and decides what runs when. */
export interface Scheduler {
  /** Runs `fn` after the events that are already waiting; for what one turn should gather before it acts. */
  immediate(fn: () => void): void;
  /** Runs `fn` once, not before `ms` milliseconds from now. Longer than DELAY_MS_MAX is cut to it: ask again then. */
  after(ms: number, fn: () => void): Cancellable;
}

/** 24.8 days: above it the platform's timer fires at once. */
export const DELAY_MS_MAX = 2 ** 31 - 1;

export const systemScheduler: Scheduler = {
  immediate: (fn) => {
    setImmediate(fn);
  },
  after: (ms, fn) => {
    const timer = setTimeout(fn, Math.min(Math.max(ms, 0), DELAY_MS_MAX));
    return {
      cancel: () => {
        clearTimeout(timer);
      },
    };
  },
};

/** Resolves after `ms`; rejects with the signal's reason when that is sooner, and then leaves no timer behind. */
export function delay(scheduler: Scheduler, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(asError(signal.reason));
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(asError(signal?.reason));
    };
    const timer = scheduler.after(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
