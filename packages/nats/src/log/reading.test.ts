/** How a stream is read: from whichever server answers, never past what that one lacks, and seldom while nothing comes. */

import { describe, expect, it } from '@jest/globals';
import { EngineError, toPartitionId } from '@engine/domain';
import { delay } from '@engine/runtime';
import type { JetStreamManager } from '@nats-io/jetstream';

import { VirtualTime } from '../../contract/index.js';
import type { ReplyInbox } from '../reply-inbox.js';
import type { Batch, BatchReads } from './batch-reads.js';
import { JetStreamLogStream } from './jetstream-log-stream.js';
import type { StoredMessage } from './log-stream.js';
import type { Publisher } from './publisher.js';
import { wantedConfig } from './stream-config.js';

const identity = { cluster: 'read', partition: toPartitionId(0), incarnation: 1n };
const config = wantedConfig(identity, 1);

function message(sequence: number): StoredMessage {
  return { sequence, payload: Uint8Array.of(sequence) };
}

function batch(sequences: readonly number[], hasMore = false): Batch {
  return { messages: sequences.map(message), hasMore };
}

/** Servers that give the answers planned, one after the other, and nothing after that. */
class Servers {
  readonly time = new VirtualTime();
  readonly asked: { readonly from: number; readonly at: number }[] = [];
  readonly answers: (Batch | Error)[] = [];
  /** What the leader of the stream holds. */
  readonly held = new Set<number>();

  async read(from: number, signal: AbortSignal): Promise<Batch> {
    this.asked.push({ from, at: this.time.monotonic() });
    await delay(this.time, 1, signal);
    const answer = this.answers.shift() ?? batch([]);
    if (answer instanceof Error) throw answer;
    return answer;
  }

  async open(): Promise<JetStreamLogStream> {
    const streams = {
      info: () => Promise.resolve({ config }),
      getMessage: (_name: string, { seq }: { readonly seq: number }) =>
        Promise.resolve(this.held.has(seq) ? { seq, data: message(seq).payload } : null),
    };
    const reads = {
      read: (_stream: string, from: number, signal: AbortSignal) => this.read(from, signal),
    };
    return JetStreamLogStream.open(
      { identity, replicas: 1 },
      {
        manager: { streams } as unknown as JetStreamManager,
        reads: reads as unknown as BatchReads,
        inbox: {} as unknown as ReplyInbox,
        publisher: {} as unknown as Publisher,
        clock: this.time,
        scheduler: this.time,
        messageBytesMax: 1024,
      },
    );
  }

  /** The sequences of the messages from 1 on, as many as are asked for. */
  async take(count: number): Promise<number[]> {
    const stream = await this.open();
    const taking = async (): Promise<number[]> => {
      const taken: number[] = [];
      const { signal } = new AbortController();
      for await (const messages of stream.messages(1, signal)) {
        taken.push(...messages.map(({ sequence }) => sequence));
        if (taken.length >= count) break;
      }
      return taken;
    };
    return this.time.until(taking());
  }
}

describe('a reader of a stream', () => {
  it('asks on at once while there is more, and at common moments when it has all', async () => {
    const servers = new Servers();
    servers.answers.push(batch([1, 2], true), batch([3]), batch([4]));
    expect(await servers.take(4)).toEqual([1, 2, 3, 4]);
    expect(servers.asked).toEqual([
      { from: 1, at: 0 },
      { from: 3, at: 1 },
      { from: 4, at: 100 },
    ]);
  });

  it('asks less and less often while nothing comes, and often again after that', async () => {
    const servers = new Servers();
    servers.answers.push(batch([]), batch([]), batch([]), batch([1]), batch([2]));
    expect(await servers.take(2)).toEqual([1, 2]);
    expect(servers.asked.map(({ at }) => at)).toEqual([0, 200, 400, 800, 900]);
  });

  it('asks again for what a server lacks in the middle and the leader holds', async () => {
    const servers = new Servers();
    servers.held.add(2);
    servers.answers.push(batch([1, 3, 4], true), batch([2, 3, 4]));
    expect(await servers.take(4)).toEqual([1, 2, 3, 4]);
    expect(servers.asked.map(({ from }) => from)).toEqual([1, 2]);
  });

  it('passes on what is behind a message that nobody holds', async () => {
    const servers = new Servers();
    servers.answers.push(batch([1, 3]));
    expect(await servers.take(2)).toEqual([1, 3]);
  });

  it('goes on when nobody answered', async () => {
    const servers = new Servers();
    servers.answers.push(new EngineError('unavailable', 'no answer'), batch([1]));
    expect(await servers.take(1)).toEqual([1]);
  });

  it('ends with its signal, also while it waits for an answer', async () => {
    const servers = new Servers();
    const stream = await servers.open();
    for (const afterMs of [0.5, 150]) {
      const controller = new AbortController();
      const reader = stream.messages(1, controller.signal)[Symbol.asyncIterator]();
      servers.time.after(afterMs, () => {
        controller.abort(new Error('enough'));
      });
      const began = servers.time.monotonic();
      await expect(servers.time.until(reader.next())).rejects.toThrow('enough');
      expect(servers.time.monotonic() - began).toBe(afterMs);
    }
  });
});
