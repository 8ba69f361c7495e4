import { describe, expect, it } from '@jest/globals';
import { fromHex } from '@engine/stdx';
import {
  CALLEE,
  INPUT,
  commandEntry,
  notified,
  valueOf,
  Driver,
  INPUT_FRAME,
  RUN,
  PROPOSAL,
  SLEEP,
  CALL,
  RESULT,
  END,
} from './testing/driver.js';

describe('transcripts', () => {
  it('runs, sleeps and calls in both directions (version 6)', () => {
    const driver = new Driver();
    expect(driver.seen()).toEqual([`write start ${INPUT_FRAME}`]);
    driver.head().data(RUN).data(`0005${PROPOSAL}`);
    expect(driver.seen()).toEqual(['command 1 run', 'run-completion 1 success']);
    driver
      .stored(2, notified('run', 1, valueOf('42')))
      .data(SLEEP)
      .stored(4, notified('sleep', 2));
    expect(driver.seen()).toEqual([
      'write 8011|08012a040a023432',
      'command 2 sleep',
      'write 800c|08022200',
    ]);
    driver.data(CALL);
    driver.stored(6, notified('call-invocation-id', 3, { kind: 'invocation-id', id: CALLEE }));
    driver.stored(7, notified('call', 4, valueOf('"Hello bob"'))).data(RESULT, END);
    expect(driver.seen()).toEqual([
      'command 3 call',
      `write 800e|0803820126${Buffer.from(CALLEE).toString('hex')}`,
      'write 800d|08042a0d0a0b2248656c6c6f20626f6222',
      'command 4 output',
      'ended',
      'close',
    ]);
    expect(driver.attempt.isFinished).toBe(true);
    driver.data(END).feed({ kind: 'response-end' }).feed({ kind: 'abort-timeout' });
    expect(driver.seen()).toEqual([]);
  });

  it('acknowledges a proposal that asks for it (version 7)', () => {
    const driver = new Driver({ protocolVersion: 7 });
    driver.head().data(RUN, `0005+${PROPOSAL}`, '0006|0a080a01011201012801');
    driver.stored(2, notified('run', 1, valueOf('42')));
    expect(driver.seen().slice(1)).toEqual([
      'command 1 run',
      'run-completion 1 success',
      'awaiting first-completed',
      'write 0007|0801',
    ]);
  });

  it('answers a proposal with the whole notification unless version 7 asks otherwise', () => {
    const plain = new Driver({ protocolVersion: 7 });
    plain
      .head()
      .data(RUN, `0005${PROPOSAL}`)
      .stored(2, notified('run', 1, valueOf('42')));
    expect(plain.seen().at(-1)).toBe('write 8011|08012a040a023432');
    const older = new Driver({ protocolVersion: 5 });
    older
      .head()
      .data(RUN, `0005+${PROPOSAL}`)
      .stored(2, notified('run', 1, valueOf('42')));
    expect(older.seen().at(-1)).toBe('write 8011|08012a040a023432');
  });

  it('replays everything in one write, acknowledged runs as notifications', () => {
    const driver = new Driver({
      protocolVersion: 7,
      journal: [
        INPUT,
        commandEntry('run', '58016203726e64'),
        notified('run', 1, valueOf('42')),
        commandEntry('sleep', '08e98ff4d49f345802'),
        notified('sleep', 2),
      ],
    });
    expect(driver.seen()).toEqual([
      `write start ${INPUT_FRAME} ${RUN} 8011|08012a040a023432 ${SLEEP} 800c|08022200`,
    ]);
    driver.head().data(RESULT, END);
    expect(driver.seen()).toEqual(['command 3 output', 'ended', 'close']);
  });

  it('suspends after the inactivity timeout and resumes with a replay', () => {
    const driver = new Driver();
    driver.head().data('040c|08d989f6d49f345801').feed({ kind: 'inactivity-timeout' });
    driver.data('0001|0a0101120101').feed({ kind: 'response-end' });
    expect(driver.seen().slice(1)).toEqual([
      'command 1 sleep',
      'close',
      'suspended unknown knowing 1',
    ]);
  });

  it('ends the request after the replay in request-response mode', () => {
    const driver = new Driver({ protocolVersion: 7, mode: 'request-response' });
    expect(driver.seen()).toEqual([`write start ${INPUT_FRAME}`, 'close']);
    driver.head().data(RUN, `0005+${PROPOSAL}`, '0001|22080a01011201012801');
    driver.stored(2, notified('run', 1, valueOf('42')));
    expect(driver.seen()).toEqual([
      'command 1 run',
      'run-completion 1 success',
      'suspended first-completed knowing 1',
    ]);
  });

  it('delivers a cancel and lets the handler end with a failure', () => {
    const driver = new Driver();
    driver.head().data(SLEEP);
    driver.stored(2, notified('signal', { kind: 'signal', index: 1 }));
    driver.data('0401|7a0e089903120943616e63656c6c6564', END);
    expect(driver.seen().slice(2)).toEqual([
      'write fbff|10012200',
      'command 2 output',
      'ended',
      'close',
    ]);
  });

  it('acknowledges commands that ask for it, while the request is open', () => {
    const driver = new Driver();
    driver.head().data('040c+|08e98ff4d49f345802');
    driver.feed({ kind: 'command-stored', commandIndex: 1 });
    expect(driver.seen().slice(1)).toEqual(['command 1 sleep ack', 'write 0004|0801']);
    driver.feed({ kind: 'inactivity-timeout' }).feed({ kind: 'command-stored', commandIndex: 1 });
    driver.feed({ kind: 'inactivity-timeout' }).stored(2, notified('sleep', 2));
    expect(driver.seen()).toEqual(['close']);
  });

  it('reads frames that are split at any byte', () => {
    const driver = new Driver();
    driver.head();
    const whole = fromHex('0411000000000007' + '58016203726e64' + '0003000000000000');
    for (const byte of whole) driver.feed({ kind: 'response-data', chunk: Uint8Array.of(byte) });
    expect(driver.seen().slice(1)).toEqual([
      'command 1 run',
      'failed RT0012 500 retry - reached',
      'close',
    ]);
  });
});

describe('what the handler knew when it suspended', () => {
  const signal = notified('signal', { kind: 'named-signal', name: 'go' });

  it('counts what was written before the request ended, also behind own commands', () => {
    const driver = new Driver();
    driver.head().data(SLEEP).stored(2, signal).data(SLEEP).stored(4, signal);
    driver.feed({ kind: 'inactivity-timeout' }).stored(5, signal).data('0001|1a02676f');
    expect(driver.last()).toMatchObject({ kind: 'suspended', knownEntries: 5 });
  });

  it('counts only the replay when the handler did not wait for the end of the request', () => {
    const driver = new Driver({ journal: [INPUT, signal] });
    driver.head().stored(2, signal).data('0001|1a02676f');
    expect(driver.last()).toMatchObject({ kind: 'suspended', knownEntries: 2 });
  });
});
