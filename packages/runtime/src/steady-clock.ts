/**
 * Wall time that goes with the monotonic clock: when the machine's clock is set, it goes on as before, until whoever knows better adopts
 * the new time. Timers of a process with such a clock are neither early nor late because of a clock that was set by mistake.
 */

import type { Clock } from './clock.js';

export class SteadyClock implements Clock {
  readonly #machine: Clock;
  #offsetMs: number;

  constructor(machine: Clock) {
    this.#machine = machine;
    this.#offsetMs = offsetOf(machine);
  }

  now(): number {
    return Math.floor(this.#machine.monotonic() + this.#offsetMs);
  }

  monotonic(): number {
    return this.#machine.monotonic();
  }

  /** By how much the machine's clock is ahead of this one, in ms, because it was set or the machine slept. */
  get behindMs(): number {
    return offsetOf(this.#machine) - this.#offsetMs;
  }

  /** Goes by the machine's clock as it is now. */
  adopt(): void {
    this.#offsetMs = offsetOf(this.#machine);
  }
}

function offsetOf(machine: Clock): number {
  return machine.now() - machine.monotonic();
}
