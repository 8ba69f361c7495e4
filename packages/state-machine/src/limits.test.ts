/** Crowds around one invocation or one key: as many as the limits allow, and what the next one is told. */

import { createHash } from 'node:crypto';

import { describe, expect, it } from '@jest/globals';
import { limits, toPartitionId } from '@engine/domain';

import { decide } from './decide.js';
import type { Action } from './outcome.js';
import { MapState } from './testing/map-state.js';
import { idOf, parseCommand } from './testing/script.js';

class Machine {
  readonly state = new MapState();
  #incarnation = 0;

  send(line: string): readonly Action[] {
    this.#incarnation += 1;
    const outcome = decide(this.state, parseCommand(line, 0), {
      self: toPartitionId(0),
      partitionOf: () => toPartitionId(0),
      incarnation: this.#incarnation,
      sha256: (bytes) => createHash('sha256').update(bytes).digest(),
    });
    this.state.apply(outcome.mutations);
    return outcome.actions;
  }
}

function resultCodes(actions: readonly Action[]): (number | undefined)[] {
  return actions.flatMap((action) =>
    action.kind === 'AnswerRequest' && action.answer.kind === 'result'
      ? [action.answer.result.kind === 'failure' ? action.answer.result.failure.code : undefined]
      : [],
  );
}

describe('callers that wait for one invocation', () => {
  it('are as many as RESPONSE_SINKS_MAX; the next is told 429, and the others get their answer', () => {
    const machine = new Machine();
    machine.send('invoke A Greeter/greet for r');
    const row = machine.state.invocation(idOf('A'));
    if (row === undefined) throw new Error();
    const sinks = Array.from({ length: limits.RESPONSE_SINKS_MAX - 1 }, (_, index) => ({
      kind: 'request' as const,
      requestId: `r${String(index)}`,
    }));
    machine.state.apply([{ table: 'invocation', id: idOf('A'), row: { ...row, sinks } }]);
    expect(machine.send('attach A as last')).toEqual([]);
    expect(resultCodes(machine.send('attach A as late'))).toEqual([429]);
    machine.send('A#1 outputs done');
    expect(resultCodes(machine.send('A#1 ends'))).toHaveLength(limits.RESPONSE_SINKS_MAX);
  });
});

describe('invocations that wait for one key', () => {
  it('are as many as INBOX_LENGTH_MAX; the next ends with 429 at once', () => {
    const machine = new Machine();
    machine.send('invoke A object:Counter/k/add for r');
    const lock = machine.state.objectLock('Counter', 'k');
    if (lock === undefined) throw new Error();
    const crowded = { ...lock, inboxTail: limits.INBOX_LENGTH_MAX - 1 };
    machine.state.apply([{ table: 'object-lock', service: 'Counter', key: 'k', row: crowded }]);
    machine.send('invoke B object:Counter/k/add for r1');
    expect(machine.state.invocation(idOf('B'))?.status).toBe('inboxed');
    expect(resultCodes(machine.send('invoke C object:Counter/k/add for r2'))).toEqual([429]);
    expect(machine.state.invocation(idOf('C'))?.status).toBe('completed');
    expect(machine.state.objectLock('Counter', 'k')?.inboxTail).toBe(limits.INBOX_LENGTH_MAX);
  });
});
