/** What every way to a worker keeps: requests and answers, messages and acknowledgements, scans. */

import {
  EngineError,
  toPartitionId,
  type InvocationId,
  type PartitionAnswer,
  type PartitionRequest,
} from '@engine/domain';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import type {
  InvocationScan,
  JournalScan,
  MessageAck,
  MessageBatch,
  PartitionChannel,
  PartitionPeer,
  StateScan,
} from '@engine/wire';
import {
  arbitraryAnswer,
  arbitraryBatch,
  arbitraryJournalSnapshot,
  arbitraryRequest,
  arbitrarySnapshot,
  arbitraryStateSnapshot,
} from '@engine/wire/contract';
import { ScriptedWorker } from './scripted-worker.js';

export interface WorkerHarness {
  readonly channel: PartitionChannel;
  /** Its `acknowledge` is the way back from `worker`. */
  readonly peer: PartitionPeer;
  readonly scans: InvocationScan & JournalScan & StateScan;
  /** True when the way asks again by itself what was not answered for good. */
  readonly asksAgain?: boolean;
  /** What came back to the near end. */
  readonly returnedAcks: readonly MessageAck[];
  /** Calls the near end with an acknowledgement that the worker gives. */
  readonly acknowledge: (ack: MessageAck) => void;
  /** Waits until something is so; fails after a few seconds. */
  readonly until: (what: string, isSo: () => boolean) => Promise<void>;
  dispose(): Promise<void>;
}

const PAYLOAD_BYTES_MAX = 32 * 1024 * 1024;

export const sampleOf = <T>(arbitrary: fc.Arbitrary<T>, count: number, seed = 1): T[] =>
  fc.sample(arbitrary, { numRuns: count, seed });

/** Distinct requests. */
export function sampleRequests(count: number, seed = 1): PartitionRequest[] {
  return sampleOf(arbitraryRequest, count, seed).map((request, index) => ({
    ...request,
    requestId: `r${String(index)}`,
  }));
}

export function workerContract(
  name: string,
  makeHarness: (worker: ScriptedWorker) => Promise<WorkerHarness>,
): void {
  const withWorker = async (
    body: (harness: WorkerHarness, worker: ScriptedWorker) => Promise<void>,
  ): Promise<void> => {
    const worker = new ScriptedWorker();
    const harness = await makeHarness(worker);
    try {
      await body(harness, worker);
    } finally {
      await harness.dispose();
    }
  };
  describe(name, () => {
    describe('as PartitionChannel', () => {
      channelContract(withWorker);
    });
    describe('as PartitionPeer', () => {
      peerContract(withWorker);
    });
    describe('as InvocationScan, JournalScan and StateScan', () => {
      scanContract(withWorker);
    });
  });
}

type WithWorker = (
  body: (harness: WorkerHarness, worker: ScriptedWorker) => Promise<void>,
) => Promise<void>;

function channelContract(withWorker: WithWorker): void {
  it('brings every kind of request and answer as it is', () =>
    withWorker(async ({ channel, asksAgain, until }, worker) => {
      const requests = sampleRequests(300);
      const isFinal = ({ kind }: PartitionAnswer): boolean => kind !== 'unavailable';
      const final = asksAgain === true ? arbitraryAnswer.filter(isFinal) : arbitraryAnswer;
      const answers = sampleOf(final, 300);
      worker.answer = ({ requestId }) => answers[Number(requestId.slice(1))];
      const got = new Map<string, PartitionAnswer>();
      for (const request of requests) {
        channel.send(request, (answer) => got.set(request.requestId, answer));
      }
      await until('all are answered', () => got.size === requests.length);
      expect(worker.asked.map(({ request }) => request)).toEqual(requests);
      expect(requests.map(({ requestId }) => got.get(requestId))).toEqual(answers);
    }));

  it('answers once, after send has returned, in the order of the answers', () =>
    withWorker(async ({ channel, until }, worker) => {
      let isSending = true;
      const order: string[] = [];
      for (const request of sampleRequests(50)) {
        channel.send(request, () => {
          expect(isSending).toBe(false);
          order.push(request.requestId);
        });
      }
      isSending = false;
      await until('all have come', () => worker.asked.length === 50);
      const backwards = [...worker.asked].reverse();
      for (const { respond } of backwards) respond({ kind: 'not-found' });
      await until('all are answered', () => order.length >= 50);
      expect(order).toEqual(backwards.map(({ request }) => request.requestId));
    }));

  it('a second request with the same id takes the place of the first', () =>
    withWorker(async ({ channel, until }, worker) => {
      const [request] = sampleRequests(1);
      const got: string[] = [];
      channel.send(request!, () => got.push('first'));
      channel.send(request!, () => got.push('second'));
      await until('both have come', () => worker.asked.length === 2);
      for (const { respond } of worker.asked) respond({ kind: 'not-ready' });
      await until('an answer came', () => got.length > 0);
      expect(got).toEqual(['second']);
    }));

  it('who withdraws hears nothing, and the worker learns of it', () =>
    withWorker(async ({ channel, until }, worker) => {
      const [gone, stays] = sampleRequests(2);
      const got: string[] = [];
      const sent = channel.send(gone!, () => got.push('gone'));
      channel.send(stays!, () => got.push('stays'));
      await until('both have come', () => worker.asked.length === 2);
      sent.withdraw();
      await until('the worker knows', () => worker.asked[0]?.isWithdrawn === true);
      for (const { respond } of worker.asked) respond({ kind: 'not-found' });
      await until('the other is answered', () => got.length > 0);
      expect(got).toEqual(['stays']);
      sent.withdraw();
    }));

  it('the largest payload passes in both directions', () =>
    withWorker(async ({ channel, until }, worker) => {
      const payload = new Uint8Array(PAYLOAD_BYTES_MAX).fill(7);
      const [sample] = sampleRequests(40).filter(({ kind }) => kind === 'invoke');
      if (sample?.kind !== 'invoke') throw new Error('the sample has an invocation');
      worker.answer = () => ({
        kind: 'result',
        result: { kind: 'success', value: payload },
        expiresAt: undefined,
        target: undefined,
      });
      const request = { ...sample, invocation: { ...sample.invocation, payload } };
      let got: PartitionAnswer | undefined;
      channel.send(request, (answer) => {
        got = answer;
      });
      await until('it is answered', () => got !== undefined);
      expect(got).toMatchObject({ kind: 'result', result: { kind: 'success' } });
      const value = got?.kind === 'result' && got.result.kind === 'success' && got.result.value;
      expect(Buffer.compare(value || new Uint8Array(), payload)).toBe(0);
    }));
}

function peerContract(withWorker: WithWorker): void {
  it('brings messages in the order of their numbers, whatever their size', () =>
    withWorker(async ({ peer, until }, worker) => {
      const sent = sampleOf(arbitraryBatch, 40).map((batch, index) => ({
        ...batch,
        sender: toPartitionId(1),
        destination: toPartitionId(2),
        first: index * 1_000,
      }));
      const wanted = messagesOf(sent);
      for (const batch of sent) peer.deliver(batch);
      await until('all have come', () => messagesOf(worker.batches).length >= wanted.length);
      expect(messagesOf(worker.batches)).toEqual(wanted);
    }));

  it('brings acknowledgements back to the sender', () =>
    withWorker(async ({ peer, acknowledge, returnedAcks, until }, worker) => {
      const [sample] = sampleOf(
        arbitraryBatch.filter(({ messages }) => messages.length > 0),
        1,
      );
      const sender = toPartitionId(3);
      peer.deliver({ ...sample!, sender, destination: toPartitionId(4), first: 1 });
      await until('it has come', () => worker.batches.length > 0);
      const ack = { sender, destination: toPartitionId(4), upTo: 9 };
      acknowledge(ack);
      await until('it is back', () => returnedAcks.length > 0);
      expect(returnedAcks).toEqual([ack]);
    }));
}

/** Every message with its number. */
function messagesOf(batches: readonly MessageBatch[]): unknown[] {
  return batches.flatMap(({ sender, destination, first, messages }) =>
    messages.map((message, offset) => ({ sender, destination, number: first + offset, message })),
  );
}

function scanContract(withWorker: WithWorker): void {
  const snapshots = sampleOf(arbitrarySnapshot, 700).map((row, index) => ({
    ...row,
    id: `inv_${String(index)}` as InvocationId,
  }));

  it('gives all rows in order, up to the limit, and goes on behind one', () =>
    withWorker(async ({ scans }, worker) => {
      worker.invocations = snapshots;
      expect(await all(scans.scan({ limit: 10_000 }))).toEqual(snapshots);
      expect(await all(scans.scan({ limit: 300 }))).toEqual(snapshots.slice(0, 300));
      const after = snapshots[299]!.id;
      expect(await all(scans.scan({ limit: 300, after }))).toEqual(snapshots.slice(300, 600));
    }));

  it('gives rows by id, in the order of the ids, without unknown ones', () =>
    withWorker(async ({ scans }, worker) => {
      worker.invocations = snapshots;
      const wanted = [...snapshots].reverse().slice(0, 600);
      const ids = ['inv_no' as InvocationId, ...wanted.map(({ id }) => id)];
      expect(await all(scans.scan({ ids, limit: 10_000 }))).toEqual(wanted);
      expect(await all(scans.scan({ ids: [], limit: 10 }))).toEqual([]);
    }));

  it('gives journals and state, also with large rows', () =>
    withWorker(async ({ scans }, worker) => {
      worker.journals = sampleOf(arbitraryJournalSnapshot, 400).map((row, index) => ({
        ...row,
        id: 'inv_j' as InvocationId,
        index,
      }));
      worker.state = sampleOf(arbitraryStateSnapshot, 20).map((row, index) => ({
        ...row,
        stateKey: String(index),
        value: new Uint8Array(700_000).fill(index),
      }));
      expect(await all(scans.scanJournal({ limit: 1_000 }))).toEqual(worker.journals);
      const rows = await all(scans.scanState({ limit: 1_000 }));
      expect(rows.map(({ stateKey }) => stateKey)).toEqual(
        worker.state.map(({ stateKey }) => stateKey),
      );
      expect(rows.every(({ value }, index) => value.length === 700_000 && value[0] === index)).toBe(
        true,
      );
    }));

  it('reads little further than its reader', () =>
    withWorker(async ({ scans }, worker) => {
      worker.invocations = snapshots;
      for await (const row of scans.scan({ limit: 10_000 })) {
        expect(row).toEqual(snapshots[0]);
        break;
      }
      expect(worker.readCount).toBeLessThan(snapshots.length / 2);
    }));

  it('a failure keeps its code', () =>
    withWorker(async ({ scans }, worker) => {
      worker.invocations = snapshots;
      const details = { reason: 'not-leader' };
      const error = new EngineError('unavailable', 'not here', { details });
      worker.failure = { at: 3, error };
      const scan = all(scans.scan({ limit: 10 }));
      await expect(scan).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('not here'),
        details,
      });
    }));
}

async function all<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const list: Row[] = [];
  for await (const row of rows) list.push(row);
  return list;
}
