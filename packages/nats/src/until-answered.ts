/** Asks again while the servers elect a leader or come up: opening waits for them instead of failing. */

import { EngineError, isEngineError } from '@engine/domain';
import { delay, type Clock, type Scheduler } from '@engine/runtime';
import { JetStreamApiError } from '@nats-io/jetstream';

import { refusalOf } from './log/refusals.js';

/** Longer than the servers need to agree on a leader. */
const ANSWER_WAIT_MS = 20_000;
const RETRY_DELAY_MS = 250;

/**
 * The first answer of `ask`. What the servers refuse outright, and errors with a code, are thrown at once.
 *
 * Throws EngineError `unavailable` when there is no answer within 20 s, `storage` when it is a refusal.
 */
export async function untilAnswered<T>(
  what: string,
  ask: () => Promise<T>,
  { clock, scheduler }: { readonly clock: Clock; readonly scheduler: Scheduler },
): Promise<T> {
  const end = clock.monotonic() + ANSWER_WAIT_MS;
  for (;;) {
    try {
      return await ask();
    } catch (cause) {
      if (isEngineError(cause)) throw cause;
      if (isRefusal(cause)) throw new EngineError('storage', `${what} is refused`, { cause });
      if (clock.monotonic() > end)
        throw new EngineError('unavailable', `${what}: no answer`, { cause });
    }
    await delay(scheduler, RETRY_DELAY_MS);
  }
}

/** True for an answer that asking again does not change: no room, no right. */
export function isRefusal(error: unknown): boolean {
  return error instanceof JetStreamApiError && refusalOf(error.apiError()).kind === 'refused';
}
