/**
 * How long a handler may be silent. While its request is open it is asked to suspend after the inactivity timeout; one that does not
 * is reported after a moment; after the abort timeout it is given up.
 */

import { assertNever } from '@engine/stdx';

/** A handler whose request has ended for its silence may take this long to suspend; then its silence is reported. */
export const SUSPENSION_MS_MAX = 5_000;

export interface Timeouts {
  readonly inactivityTimeoutMs: number;
  readonly abortTimeoutMs: number;
}

/** What to do with a handler that was silent for too long. */
export type Remedy = 'ask-to-suspend' | 'report' | 'give-up';

export class Patience {
  readonly #timeouts: Timeouts;
  #stage: 'open' | 'asked' | 'reported' | 'closed' = 'open';

  constructor(timeouts: Timeouts) {
    this.#timeouts = timeouts;
  }

  /** Ms of silence from now on until the next `exhausted`. */
  get delayMs(): number {
    const { inactivityTimeoutMs, abortTimeoutMs } = this.#timeouts;
    switch (this.#stage) {
      case 'open':
        return inactivityTimeoutMs;
      case 'asked':
        return SUSPENSION_MS_MAX;
      case 'reported':
        return abortTimeoutMs - SUSPENSION_MS_MAX;
      case 'closed':
        return abortTimeoutMs;
      default:
        return assertNever(this.#stage);
    }
  }

  /** The handler spoke, or was spoken to. */
  renew(): void {
    if (this.#stage !== 'open') this.#stage = 'closed';
  }

  /** The handler is not written to any more: all that it still says is its end. */
  requestClosed(): void {
    if (this.#stage === 'open') this.#stage = 'closed';
  }

  /** The handler was silent for `delayMs`. */
  exhausted(): Remedy {
    switch (this.#stage) {
      case 'open':
        this.#stage = this.#timeouts.abortTimeoutMs > SUSPENSION_MS_MAX ? 'asked' : 'closed';
        return 'ask-to-suspend';
      case 'asked':
        this.#stage = 'reported';
        return 'report';
      case 'reported':
      case 'closed':
        return 'give-up';
      default:
        return assertNever(this.#stage);
    }
  }
}
