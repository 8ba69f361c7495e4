/**
 * A lease as its holder sees it. After any pause of the process `state` is asked first, before a timer, a message or an attempt has its
 * turn: a holder that has slept past its time finds that out itself.
 *
 * It is renewed by compare-and-set on the holder's own last revision. Whoever counts the holder dead writes that onto the same lease in
 * the same way (buries it), so only one of the two succeeds: a holder that renewed was not dead, and one that was buried learns it.
 */

import type { LeaseTimes } from './lease-times.js';

/**
 * `lapsed`: not renewed for ⅔ of the TTL; nobody has counted the holder dead that it knows of. `lost`: buried, or never had: what was given
 * to it before counts no more.
 */
export type LeaseState = 'held' | 'lapsed' | 'lost';

export class LeaseHolder {
  readonly #times: LeaseTimes;
  /** When the last renewal that succeeded was sent. */
  #renewedAt: number | undefined;
  #lostAt = -Infinity;

  constructor(times: LeaseTimes) {
    this.#times = times;
  }

  /**
   * A renewal succeeded that was sent at `sentAt`: others cannot have seen it earlier, so it counts from there. An answer to one that was sent
   * before the lease was lost says nothing.
   */
  renewed(sentAt: number): void {
    if (sentAt < this.#lostAt) return;
    if (this.#renewedAt === undefined || sentAt > this.#renewedAt) this.#renewedAt = sentAt;
  }

  /** The lease is gone: given back, buried, or somebody else has it. */
  lost(now: number): void {
    this.#lostAt = now;
    this.#renewedAt = undefined;
  }

  state(now: number): LeaseState {
    if (this.#renewedAt === undefined) return 'lost';
    return now - this.#renewedAt < this.#times.abortAfterMs ? 'held' : 'lapsed';
  }

  /** False from ⅔ of the TTL after the last renewal on: attempts are aborted, and nothing is begun that others must not overlap. */
  isHeld(now: number): boolean {
    return this.state(now) === 'held';
  }

  /** When to look again at the latest; undefined when it is not held. */
  heldUntil(now: number): number | undefined {
    if (this.#renewedAt === undefined || !this.isHeld(now)) return undefined;
    return this.#renewedAt + this.#times.abortAfterMs;
  }
}
