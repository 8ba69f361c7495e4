/** Bounds and corners of operations that stories are too short for. */

import { createHash } from 'node:crypto';

import { describe, expect, it } from '@jest/globals';
import { limits, toPartitionId, type InvocationId } from '@engine/domain';

import type { Command } from './command.js';
import { decide } from './decide.js';
import { violations } from './invariants.js';
import type { Outcome } from './outcome.js';
import { MapState } from './testing/map-state.js';
import { idOf, parseCommand } from './testing/script.js';

class Machine {
  readonly state = new MapState();
  #incarnation = 0;

  send(line: string, at = 0): Outcome {
    return this.decide(parseCommand(line, at));
  }

  decide(command: Command): Outcome {
    this.#incarnation += 1;
    const outcome = decide(this.state, command, {
      self: toPartitionId(0),
      partitionOf: () => toPartitionId(0),
      incarnation: this.#incarnation,
      sha256: (bytes) => createHash('sha256').update(bytes).digest(),
    });
    this.state.apply(outcome.mutations);
    expect(violations(this.state, outcome)).toEqual([]);
    return outcome;
  }

  /** What the operation was answered. */
  ask(line: string, at = 0): string {
    return answerOf(this.send(line, at));
  }

  /** Rows of an invocation in one table. */
  count(table: string, id: InvocationId): number {
    const prefix = `${table} ${id} `;
    return [...this.state.rows.keys()].filter((place) => place.startsWith(prefix)).length;
  }
}

function answerOf({ actions }: Outcome): string {
  for (const action of actions) {
    if (action.kind === 'AnswerRequest' && action.answer.kind === 'operation') {
      return action.answer.outcome;
    }
  }
  return 'nothing';
}

/** A completed invocation A with `runs` steps: 2 × runs + 2 journal entries. */
function completed(runs: number, target = 'Greeter/greet'): Machine {
  const machine = new Machine();
  machine.send(`invoke A ${target} for r1 keeping 900000`);
  for (let step = 1; step <= runs; step += 1) {
    machine.send(`A#1 runs ${String(step)}`);
    machine.send(`A#1 proposes ${String(step)} v`);
  }
  machine.send('A#1 outputs done');
  machine.send('A#1 ends');
  return machine;
}

const A = idOf('A');

describe('purge of a long journal', () => {
  it('END-4 END-5 hides it at once and removes it in slices', () => {
    const machine = completed(1_250);
    const first = machine.send('purge-journal A as r2');
    expect(first.mutations.length).toBeLessThan(2 * limits.PURGE_SLICE_ENTRIES);
    expect(machine.state.invocation(A)).toMatchObject({ journalLength: 0, purgeLength: 1_502 });
    expect(machine.ask('restart A into B as r3')).toBe('journal-missing');
    expect(machine.ask('purge-journal A as r4')).toBe('done');
    machine.send('timer purge-journal A incarnation 1');
    machine.send('timer purge-journal A incarnation 1');
    expect(machine.state.invocation(A)?.purgeLength).toBeUndefined();
    // The output alone.
    expect(machine.count('journal', A)).toBe(1);
    expect(machine.count('notification', A)).toBe(0);
  });

  it('END-6 leaves nothing when its grace is over', () => {
    const machine = completed(1_250);
    expect(machine.ask('purge A as r2')).toBe('done');
    expect(machine.ask('purge A as r3')).toBe('not-found');
    for (let slice = 0; slice < 4; slice += 1) machine.send('timer purge-journal A incarnation 1');
    machine.send('timer purge A incarnation 1', limits.END_GRACE_MS);
    expect(machine.state.invocation(A)).toBeUndefined();
    expect(machine.count('journal', A) + machine.count('notification', A)).toBe(0);
  });

  it('END-6 after its grace removes the row with the last slice', () => {
    const machine = completed(1_250);
    const late = limits.END_GRACE_MS + 1;
    expect(machine.ask('purge A as r2', late)).toBe('done');
    expect(machine.ask('attach A as r3', late)).toBe('nothing');
    for (let slice = 0; slice < 2; slice += 1) machine.send('timer purge A incarnation 1', late);
    expect(machine.state.invocation(A)).toBeUndefined();
    expect(machine.count('journal', A) + machine.count('notification', A)).toBe(0);
  });

  it('END-6 a key that is used again in between does not lose what it gets', () => {
    const machine = completed(1_250, 'workflow:Order/o/run');
    machine.send('purge A as r2');
    machine.send('invoke A workflow:Order/o/run for r9 keeping 900000');
    machine.send('A#1 sets x 1');
    machine.send('timer purge-journal A incarnation 1');
    machine.send('timer purge A incarnation 1', limits.END_GRACE_MS);
    expect(machine.state.invocation(A)).toMatchObject({ status: 'invoked', journalLength: 2 });
    expect(machine.state.stateDirectory('Order', 'o')?.entries).toHaveLength(1);
  });
});

describe('restart', () => {
  it('RST-3 takes over so many entries and no more', () => {
    const steps = limits.RESTART_ENTRIES_MAX / 2;
    const machine = completed(steps);
    const most = limits.RESTART_ENTRIES_MAX - 1;
    expect(machine.ask(`restart A into B up-to ${String(most + 1)}`)).toBe('limit-reached');
    // Its last command is a run, whose completion would be one too many.
    expect(machine.ask(`restart A into B up-to ${String(most)}`)).toBe('limit-reached');
    expect(machine.ask(`restart A into B up-to ${String(most - 1)}`)).toBe('done');
    expect(machine.state.invocation(idOf('B'))).toMatchObject({
      journalLength: limits.RESTART_ENTRIES_MAX - 1,
      inherited: { seedId: 'A' },
    });
  });

  it('RST-3 takes over so many bytes beside the input', () => {
    const machine = new Machine();
    machine.send('invoke A Greeter/greet for r1 keeping 900000');
    const command = parseCommand('A#1 runs 1', 0);
    if (command.kind !== 'CommandReceived' || command.entry.type !== 'run') throw new Error();
    const raw = new Uint8Array(limits.RESTART_BYTES_MAX + 1);
    machine.decide({ ...command, entry: { ...command.entry, raw } });
    machine.send('A#1 proposes 1 v');
    machine.send('kill A as r2');
    expect(machine.ask('restart A into B up-to 1')).toBe('limit-reached');
    expect(machine.ask('restart A into B up-to 0')).toBe('done');
  });

  it('RST-2 an SDK that draws randomness from the id takes over the input alone', () => {
    const machine = new Machine();
    machine.send('invoke A Greeter/greet for r1 keeping 900000');
    const command = parseCommand('A#1 runs 1', 0);
    if (command.kind !== 'CommandReceived') throw new Error();
    machine.decide({ ...command, pin: { ...command.pin, protocolVersion: 5 } });
    machine.send('A#1 proposes 1 v');
    machine.send('kill A as r2');
    expect(machine.ask('restart A into B up-to 1')).toBe('journal-position-invalid');
    expect(machine.ask('restart A into B up-to 0')).toBe('done');
  });
});

describe('replacement of a state', () => {
  it('OBJ-3 waits in a bounded line', () => {
    const machine = new Machine();
    machine.send('invoke A object:Counter/k/add for r1');
    for (let count = 0; count < limits.INBOX_REPLACEMENTS_MAX; count += 1) {
      expect(machine.ask(`replace Counter/k with x=${String(count)}`)).toBe('appended');
    }
    expect(machine.ask('replace Counter/k with x=late')).toBe('limit-reached');
    machine.send('kill A as r2');
    const last = new TextDecoder().decode(machine.state.state('Counter', 'k', 'x'));
    expect(last).toBe(String(limits.INBOX_REPLACEMENTS_MAX - 1));
    expect(machine.state.objectLock('Counter', 'k')).toBeUndefined();
  });

  it('STA-2 has a bounded number of entries', () => {
    const machine = new Machine();
    const entries = (count: number): string =>
      Array.from({ length: count }, (_, index) => `k${String(index)}=1`).join(',');
    const max = limits.STATE_REPLACEMENT_ENTRIES_MAX;
    expect(machine.ask(`replace Counter/k with ${entries(max + 1)}`)).toBe('limit-reached');
    expect(machine.ask(`replace Counter/k with ${entries(max)}`)).toBe('done');
    expect(machine.state.stateDirectory('Counter', 'k')?.entries).toHaveLength(max);
  });

  it('STA-2 counts the version over key bytes, not over UTF-16', () => {
    const machine = new Machine();
    // U+FF5E sorts before U+1F600 as bytes and after it as UTF-16.
    machine.send('replace Counter/k with \u{1f600}=2,\uff5e=1');
    const hash = createHash('sha256');
    ['\uff5e', '\u{1f600}'].forEach((key, index) => {
      const position = Buffer.alloc(8);
      position.writeBigUInt64BE(BigInt(index));
      hash.update(position).update('\x01').update(key);
      hash
        .update('\x02')
        .update(String(index + 1))
        .update('\x03');
    });
    machine.send(`replace Counter/k with y=1 at ${hash.digest('base64url')}`);
    expect(machine.state.stateDirectory('Counter', 'k')?.entries.map(({ key }) => key)).toEqual([
      'y',
    ]);
  });
});

describe('a full journal', () => {
  /** A runs, and its journal has as many entries as there may be. */
  function full(): Machine {
    const machine = new Machine();
    machine.send('invoke A Greeter/greet for r1');
    machine.send('A#1 runs 1');
    const row = machine.state.invocation(A);
    if (row === undefined) throw new Error();
    const last = machine.state.journalEntry(A, 1);
    const index = limits.JOURNAL_LENGTH_MAX - 1;
    machine.state.apply([
      { table: 'invocation', id: A, row: { ...row, journalLength: limits.JOURNAL_LENGTH_MAX } },
      { table: 'journal', id: A, index, row: last },
    ]);
    return machine;
  }

  it('JRN-4 pauses at the next command', () => {
    const machine = full();
    const { actions } = machine.send('A#1 runs 2');
    expect(actions).toEqual([{ kind: 'AbortAttempt', invocationId: A, attempt: 1 }]);
    expect(machine.state.invocation(A)).toMatchObject({
      status: 'paused',
      journalLength: limits.JOURNAL_LENGTH_MAX,
      retry: { failure: { message: 'the journal has 1000000 entries, which is the most' } },
    });
    expect(machine.ask('resume A as r2')).toBe('done');
    expect(machine.ask('kill A as r3')).toBe('done');
  });

  it('JRN-4 takes completions, a cancel and the output, but no signal', () => {
    const machine = full();
    machine.send('signal A ngo v as r2');
    expect(machine.state.invocation(A)?.journalLength).toBe(limits.JOURNAL_LENGTH_MAX);
    machine.send('A#1 proposes 1 v');
    machine.send('cancel A as r3');
    machine.send('A#1 outputs done');
    machine.send('A#1 ends');
    expect(machine.state.invocation(A)).toMatchObject({
      status: 'completed',
      journalLength: limits.JOURNAL_LENGTH_MAX + 3,
    });
  });
});
