import { isEngineError } from '@engine/domain';
import { delay } from '@engine/runtime';
import { createLogger } from '@engine/telemetry';

import { system } from './system.js';

const log = createLogger('server:cluster');

/** Longer than nats-servers that start together need to agree on leaders. */
const ANSWER_WAIT_MS = 60_000;
const RETRY_DELAY_MS = 500;

/**
 * Asks again while nobody answers: nodes and nats-servers of a cluster start in any order. Throws EngineError `unavailable` when there
 * is no answer within a minute, and every other error at once.
 */
export async function patiently<T>(what: string, ask: () => Promise<T>): Promise<T> {
  const end = system.clock.monotonic() + ANSWER_WAIT_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const mayPass = isEngineError(error) && error.code === 'unavailable';
      if (!mayPass || system.clock.monotonic() > end) throw error;
      log.warn({ err: error, what }, 'no answer yet');
    }
    await delay(system.scheduler, RETRY_DELAY_MS);
  }
}
