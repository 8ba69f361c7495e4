/** Reports handlers that neither suspend nor speak: a line for each such attempt, as long as there are few of them. */

import type { DeploymentId } from '@engine/domain';
import type { Clock } from '@engine/runtime';

import { onAttemptSilent } from '../events.js';
import type { AttemptIdentity } from './attempt-reports.js';
import type { Awaited } from './attempt-watch.js';

/** Lines of one partition in a minute; further attempts are only counted. */
export const SILENCE_LINES_PER_MINUTE_MAX = 10;

const MINUTE_MS = 60_000;

interface Silent extends AttemptIdentity {
  readonly deploymentId: DeploymentId | undefined;
}

export class Silences {
  readonly #clock: Clock;
  #windowEndsAt = 0;
  #lines = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  report(silent: Silent, awaited: Awaited): void {
    const now = this.#clock.monotonic();
    if (now >= this.#windowEndsAt) {
      this.#windowEndsAt = now + MINUTE_MS;
      this.#lines = 0;
    }
    this.#lines += 1;
    const { invocationId: invocation, attempt, deploymentId: deployment } = silent;
    const { on: awaitingOn, since: awaitingSince } = awaited;
    const event = { invocation, attempt, deployment, awaitingOn, awaitingSince };
    onAttemptSilent(event, this.#lines <= SILENCE_LINES_PER_MINUTE_MAX);
  }
}
