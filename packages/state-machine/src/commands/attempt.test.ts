/** How failures are counted. */

import { describe, expect, it } from '@jest/globals';
import { limits, toPartitionId, type Invocation } from '@engine/domain';

import { decide } from '../decide.js';
import { MapState } from '../testing/map-state.js';
import { idOf, parseCommand } from '../testing/script.js';

const CONTEXT = {
  self: toPartitionId(0),
  partitionOf: () => toPartitionId(0),
  incarnation: 1,
  sha256: (bytes: Uint8Array) => bytes,
};

/** An invocation whose deployment has set `setDelays` delays in a row fails once more. The policy allows three attempts. */
function failsAgain(before: { setDelays: number; failures?: number }, how: string): Invocation {
  const state = new MapState();
  const send = (line: string): void => {
    state.apply(decide(state, parseCommand(line, 0), CONTEXT).mutations);
  };
  const row = (): Invocation => {
    const found = state.invocation(idOf('A'));
    if (found === undefined) throw new Error('A is there');
    return found;
  };
  send('invoke A Greeter/greet for r1');
  send('A#1 fails');
  const { retry, ...rest } = row();
  if (retry === undefined) throw new Error('A has failed');
  const counted = { ...retry, failures: 0, ...before, nextAttemptAt: undefined };
  const running = { ...rest, retry: counted };
  state.apply([{ table: 'invocation', id: idOf('A'), row: running }]);
  send(`A#1 ${how}`);
  return row();
}

describe('RTY-2 a delay set by the deployment', () => {
  const max = limits.FREE_RETRY_DELAYS_MAX;

  it('uses up no attempt', () => {
    expect(failsAgain({ setDelays: max - 1, failures: 2 }, 'fails delay 5')).toMatchObject({
      status: 'invoked',
      retry: { failures: 2, setDelays: max, nextAttemptAt: 5 },
    });
  });

  it('does after too many of them, and is still waited for', () => {
    expect(failsAgain({ setDelays: max, failures: 0 }, 'fails delay 5')).toMatchObject({
      status: 'invoked',
      retry: { failures: 1, setDelays: max, nextAttemptAt: 5 },
    });
    expect(failsAgain({ setDelays: max, failures: 2 }, 'fails delay 5')).toMatchObject({
      status: 'paused',
      retry: { failures: 3, nextAttemptAt: undefined },
    });
  });

  it('leaves the policy where it was', () => {
    expect(failsAgain({ setDelays: 7, failures: 1 }, 'fails')).toMatchObject({
      retry: { failures: 2, setDelays: 7, nextAttemptAt: 200 },
    });
  });
});
