import { describe } from '@jest/globals';
import { natsServerPath } from '@engine-test/support';

/**
 * Suites against a real nats-server. Where a machine has none and cannot build one they are left out, and standard error says so;
 * with ENGINE_NATS_REQUIRED=1, as in CI, they fail instead.
 */
export const describeWithNats = natsServerPath() === undefined ? describe.skip : describe;
