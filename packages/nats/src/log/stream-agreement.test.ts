/** The twin and the real thing give the same answers: everything that the seeds find out about the twin holds for JetStream. */

import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { NatsServers } from '@engine-test/support';
import { toPartitionId } from '@engine/domain';
import { seededRandom, systemClock, systemScheduler } from '@engine/runtime';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';

import { describeWithNats } from '../../contract/describe-with-nats.js';
import { SimulatedStream } from '../../contract/index.js';
import { ReplyInbox } from '../reply-inbox.js';
import { connectNats } from '../connection.js';
import { findSync, requireSync } from '../server-checks.js';
import { logStream } from '../subjects.js';
import { BatchReads } from './batch-reads.js';
import { JetStreamLogStream } from './jetstream-log-stream.js';
import type { AppendAnswer, LogStream } from './log-stream.js';
import { Publisher } from './publisher.js';
import type { ReplicaCount } from './stream-config.js';

const system = { clock: systemClock, scheduler: systemScheduler };

interface Subject {
  readonly stream: LogStream;
  /** From now on there is no space (true), or there is again. */
  setFull(isFull: boolean): Promise<void>;
  close(): Promise<void>;
}

const bytes = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value);

function append(
  stream: LogStream,
  expectedLast: number,
  payload: Uint8Array,
): Promise<AppendAnswer> {
  return new Promise((resolve) => {
    stream.publish({ payload, expectedLast, onAnswer: resolve });
  });
}

/** Each line is what came of one step. Runs the same on every stream. */
async function transcript({ stream, setFull }: Subject): Promise<readonly unknown[]> {
  const lines: unknown[] = [];
  const note = async (what: string, outcome: Promise<unknown>): Promise<void> => {
    lines.push([what, await outcome]);
  };
  const kind = async (answer: Promise<AppendAnswer>): Promise<string> => (await answer).kind;
  const state = async (): Promise<unknown> => {
    const { first, last } = await stream.state();
    return { first, last };
  };
  const get = async (sequence: number): Promise<unknown> =>
    (await stream.get(sequence))?.payload[0];
  await note('empty', state());
  await note('nothing to read', get(1));
  await note('first', append(stream, 0, bytes(10, 1)));
  await note('the same again', append(stream, 0, bytes(10, 1)));
  await note('behind the end', append(stream, 5, bytes(10, 2)));
  await note('second', append(stream, 1, bytes(100_000, 2)));
  await note('an old place', append(stream, 1, bytes(10, 3)));
  await note('what stands there', get(2));
  await note('what does not', get(3));
  // Two at once with one expectation: one is stored, whichever it is.
  const both = await Promise.all([
    append(stream, 2, bytes(10, 4)),
    append(stream, 2, bytes(10, 5)),
  ]);
  lines.push(both.map((answer) => answer.kind).sort());
  // A pipeline whose first message fails: those behind it fail too.
  const chain = [7, 8, 9].map((last) => kind(append(stream, last, bytes(10, 6))));
  lines.push(await Promise.all(chain));
  await note('the end', state());
  await setFull(true);
  await note('no space', kind(append(stream, 3, bytes(10, 7))));
  await note(
    'no space, another place',
    kind(append(stream, 1, bytes(10, 7))).then(() => 'refused or wrong'),
  );
  await setFull(false);
  await note('space again', append(stream, 3, bytes(10, 7)));
  await stream.purgeBelow(3);
  await note('purged', state());
  await note('what was purged', get(2));
  await note('goes on', append(stream, 4, bytes(10, 8)));
  const controller = new AbortController();
  const read: unknown[] = [];
  for await (const messages of stream.messages(3, controller.signal)) {
    read.push(...messages.map(({ sequence }) => sequence));
    if (read.includes(5)) break;
  }
  lines.push(read);
  await note('the largest', kind(append(stream, 5, bytes(stream.payloadBytesMax, 9))));
  return lines;
}

async function simulated(): Promise<Subject> {
  const dependencies = {
    scheduler: systemScheduler,
    random: seededRandom(1),
    now: () => systemClock.now(),
  };
  const stream = new SimulatedStream(dependencies);
  return Promise.resolve({
    stream: stream.view(),
    setFull: (isFull: boolean) => {
      stream.isFull = isFull;
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  });
}

function requestsOn(connection: NatsConnection, inbox: ReplyInbox) {
  const dependencies = { connection, inbox, scheduler: systemScheduler };
  return { inbox, publisher: new Publisher(dependencies), reads: new BatchReads(dependencies) };
}

async function real(servers: NatsServers, replicas: ReplicaCount): Promise<Subject> {
  const connection = await connectNats({ servers: servers.urls, name: 'test' });
  const manager: JetStreamManager = await jetstreamManager(connection);
  const inbox = new ReplyInbox(connection);
  const identity = { cluster: 'agree', partition: toPartitionId(1), incarnation: 1n };
  const messageBytesMax = connection.info?.max_payload ?? 0;
  const stream = await JetStreamLogStream.open(
    { identity, replicas },
    { ...system, ...requestsOn(connection, inbox), manager, messageBytesMax },
  );
  return {
    stream,
    setFull: async (isFull) => {
      const { config } = await manager.streams.info(logStream(identity));
      const { bytes: used } = (await manager.streams.info(logStream(identity))).state;
      await manager.streams.update(config.name, { ...config, max_bytes: isFull ? used + 1 : -1 });
    },
    close: async () => {
      inbox.close();
      await connection.close();
    },
  };
}

describeWithNats.each([1, 3] as const)('on %i nats-server(s)', (nodeCount: ReplicaCount) => {
  let servers: NatsServers;

  beforeAll(async () => {
    servers = await NatsServers.start({ nodeCount });
  }, 60_000);

  afterAll(() => servers[Symbol.asyncDispose]());

  it('stream and twin agree on every answer', async () => {
    const [twin, jetStream] = [await simulated(), await real(servers, nodeCount)];
    const expected = await transcript(twin);
    expect(await transcript(jetStream)).toEqual(expected);
    await jetStream.close();
  }, 30_000);

  it('servers tell on their monitoring page that they sync before they acknowledge', async () => {
    expect(await findSync(servers.monitorUrls)).toBe('always');
    expect(await findSync([...servers.monitorUrls, 'http://127.0.0.1:9'])).toBe('unknown');
    expect(await findSync([])).toBe('unknown');
    expect(() => {
      requireSync('delayed');
    }).toThrow('sync_interval');
  });

  it('a stream that is set up otherwise is refused', async () => {
    const connection = await connectNats({ servers: servers.urls, name: 'test' });
    const manager = await jetstreamManager(connection);
    const inbox = new ReplyInbox(connection);
    const identity = { cluster: 'wrong', partition: toPartitionId(1), incarnation: 1n };
    const subject = `engine.wrong.log.1.1`;
    await manager.streams.add({ name: logStream(identity), subjects: [subject], max_age: 1e12 });
    const dependencies = { ...system, ...requestsOn(connection, inbox), manager };
    const opening = JetStreamLogStream.open(
      { identity, replicas: nodeCount },
      { ...dependencies, messageBytesMax: 1024 },
    );
    await expect(opening).rejects.toMatchObject({
      code: 'RT0002',
      message: expect.stringMatching(/max_age is 1000000000000.*deny_delete/),
    });
    inbox.close();
    await connection.close();
  });
});
