export { systemClock, type Clock } from './clock.js';
export { SteadyClock } from './steady-clock.js';
export { seededRandom, systemRandom, type Random } from './random.js';
export { Readiness } from './readiness.js';
export {
  delay,
  DELAY_MS_MAX,
  systemScheduler,
  type Cancellable,
  type Scheduler,
} from './scheduler.js';
export { startInOrder, type Service } from './service.js';
export { TaskGroup } from './task-group.js';
export { createUlidFactory, type UlidFactory } from './ulid.js';
