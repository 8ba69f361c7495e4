import { systemScheduler, type Scheduler } from '@engine/runtime';

/** Waits of seconds are over at once; limits of several seconds never come. */
export const HURRIED: Scheduler = {
  ...systemScheduler,
  after: (ms, fn) => (ms > 5_000 ? { cancel: () => undefined } : systemScheduler.after(0, fn)),
};
