import { describe, expect, it } from '@jest/globals';
import { limits, loadHashes, toPartitionId, type InvocationId } from '@engine/domain';
import { MemoryPartitionLog, RecordWriter } from '@engine/log';
import type { Action, Command, Outcome } from '@engine/state-machine';
import { MemoryKvStore, PartitionState } from '@engine/storage';

import { VirtualTime } from '../testing/virtual-time.js';
import { COMMIT_DELAY_MS_MAX, PartitionProcessor, type ProcessorOptions } from './processor.js';

const id = toPartitionId(0);
const invocationId = `inv_1${'0'.repeat(33)}` as InvocationId;
const confirm: Action = {
  kind: 'ConfirmCommand',
  invocationId,
  attempt: 1,
  commandIndex: 1,
  ackRequested: false,
};
const answer: Action = { kind: 'AnswerRequest', requestId: 'r', answer: { kind: 'not-found' } };
const anyCommand = (): Command => ({ kind: 'AttemptEnded', at: 0, invocationId, attempt: 1 });

/** A processor whose decisions are given by the test, each with one row to write. */
async function processorOf(
  options: Pick<ProcessorOptions, 'queueBytesMax' | 'isShared' | 'timeMin'> = {},
): Promise<{
  readonly processor: PartitionProcessor;
  readonly time: VirtualTime;
  readonly commits: () => number;
  readonly performed: readonly Action[];
  readonly submit: (...actions: readonly Action[]) => void;
  /** A decision that writes nothing. */
  readonly look: (...actions: readonly Action[]) => Command;
}> {
  const time = new VirtualTime();
  const store = new MemoryKvStore();
  const hashes = await loadHashes();
  const log = new MemoryPartitionLog();
  const performed: Action[] = [];
  const outcomes: Outcome[] = [];
  const processor = new PartitionProcessor(
    {
      id,
      partitionOf: () => id,
      sha256: hashes.sha256,
      ...options,
    },
    {
      state: new PartitionState({ place: { partition: id, generation: 0 } }, store),
      log,
      records: new RecordWriter(log.position, hashes.xxh3),
      clock: time,
      scheduler: time,
      decide: () => outcomes.shift() ?? { mutations: [], actions: [] },
      perform: (action) => performed.push(action),
      flush: () => undefined,
      onFatal: (error) => {
        throw error;
      },
    },
  );
  return {
    processor,
    time,
    performed,
    commits: () => Number(log.position.sequence),
    submit: (...actions) => {
      outcomes.push({ mutations: [{ table: 'active', id: invocationId, row: true }], actions });
      processor.submit(anyCommand());
    },
    look: (...actions) => {
      const command = anyCommand();
      outcomes.push({ mutations: [], actions });
      processor.submit(command);
      return command;
    },
  };
}

describe('a record that nobody waits for', () => {
  it('stays open for a moment, and then becomes durable by itself', async () => {
    const { time, commits, performed, submit } = await processorOf();
    submit(confirm);
    await time.settle();
    expect(commits()).toBe(0);
    await time.pass(COMMIT_DELAY_MS_MAX);
    expect(commits()).toBe(1);
    expect(performed).toEqual([confirm]);
  });

  it('goes at once with the first decision that somebody waits for', async () => {
    const { time, commits, performed, submit } = await processorOf();
    submit(confirm);
    await time.settle();
    submit(answer);
    await time.settle();
    expect(commits()).toBe(1);
    expect(performed).toEqual([confirm, answer]);
  });

  it('is not held when its deployment asked for an acknowledgement', async () => {
    const { time, commits, submit } = await processorOf();
    submit({ ...confirm, ackRequested: true });
    await time.settle();
    expect(commits()).toBe(1);
  });
});

describe('a crowd', () => {
  it('is decided and released in slices, in order, and others have their turn in between', async () => {
    const { time, performed, submit } = await processorOf();
    const answers = Array.from({ length: 2_000 }, (_, index): Action => ({
      ...answer,
      requestId: String(index),
    }));
    for (const each of answers) submit(each);
    const progress: number[] = [];
    const look = (): void => {
      progress.push(performed.length - progress.reduce((sum, count) => sum + count, 0));
      if (performed.length < answers.length) time.immediate(look);
    };
    time.immediate(look);
    await time.settle();
    expect(performed).toEqual(answers);
    expect(Math.max(...progress)).toBeLessThan(answers.length / 4);
  });
});

describe('the queue of a partition', () => {
  it('takes no more large payloads from outside while those that wait fill it', async () => {
    const { processor, time } = await processorOf({ queueBytesMax: 1_000 });
    const replacing = (bytes: number): Command => ({
      kind: 'ReplaceState',
      at: 0,
      requestId: 'r',
      service: 'Counter',
      key: 'k',
      expectedVersion: undefined,
      entries: [{ key: 'x', value: new Uint8Array(bytes) }],
    });
    // A payload that is alone has room whatever its size.
    expect(processor.offer(replacing(5_000))).toBe(true);
    expect(processor.offer(replacing(1))).toBe(false);
    await time.settle();
    expect(processor.offer(replacing(600))).toBe(true);
    expect(processor.offer(replacing(600))).toBe(false);
    expect(processor.offer(replacing(400))).toBe(true);
  });

  it('takes no more commands from outside than its limit, its own rooms always find a place', async () => {
    const { processor, time } = await processorOf();
    for (let count = 0; count < limits.PARTITION_QUEUE_LENGTH_MAX; count += 1) {
      expect(processor.offer(anyCommand())).toBe(true);
    }
    expect(processor.offer(anyCommand())).toBe(false);
    processor.submit(anyCommand());
    await time.settle();
    expect(processor.offer(anyCommand())).toBe(true);
  });
});

describe('a log that others may write to', () => {
  it('takes an empty record for an answer that rests on nothing new', async () => {
    const { time, commits, performed, look } = await processorOf({ isShared: true });
    look(answer);
    look(answer);
    await time.settle();
    expect(performed).toEqual([answer, answer]);
    expect(commits()).toBe(1);
  });

  it('takes one before what waits for everything to be durable goes on', async () => {
    const { processor, time, commits } = await processorOf({ isShared: true });
    const flushed = processor.flushed();
    await time.settle();
    await flushed;
    expect(commits()).toBe(1);
  });

  it('takes none where nobody else can lead, nor for what nobody sees', async () => {
    const alone = await processorOf();
    alone.look(answer);
    await alone.time.settle();
    expect([alone.performed.length, alone.commits()]).toEqual([1, 0]);
    const shared = await processorOf({ isShared: true });
    shared.look(confirm);
    await shared.time.settle();
    expect([shared.performed.length, shared.commits()]).toEqual([1, 0]);
  });

  it('gives no times before that of its announcement', async () => {
    const timeMin = 1_800_000_000_000;
    const { time, look } = await processorOf({ isShared: true, timeMin });
    const command = look();
    await time.settle();
    expect(command.at).toBe(timeMin);
  });
});
