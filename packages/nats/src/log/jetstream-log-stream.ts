/** LogStream on JetStream. Control and single reads go through the library, appends and batches through the shared inbox. */

import { EngineError } from '@engine/domain';
import { delay, type Clock, type Scheduler } from '@engine/runtime';
import { JetStreamApiError, type JetStreamManager, type StreamInfo } from '@nats-io/jetstream';

import type { ReplyInbox } from '../reply-inbox.js';
import { logStream, logSubject, type LogIdentity } from '../subjects.js';
import { untilAnswered } from '../until-answered.js';
import type { Batch, BatchReads } from './batch-reads.js';
import type { AppendRequest, LogStream, StoredMessage, StreamState } from './log-stream.js';
import type { Publisher } from './publisher.js';
import { configProblems, wantedConfig, type ReplicaCount } from './stream-config.js';

/**
 * How often a reader that is at the end asks for more, in ms, all readers of a process at the same moments: what many records of many
 * partitions cost together is little more than what one costs alone. It asks less and less often while there is nothing.
 */
const FOLLOW_TICK_MS = 100;
const FOLLOW_TICK_MS_MAX = 400;

/** Larger messages delay everything behind them on a connection. */
const PAYLOAD_BYTES_MAX = 1024 * 1024;
/** Subject, headers and framing count towards the servers' limit. */
const ENVELOPE_BYTES_MAX = 512;

const STREAM_NOT_FOUND = 10_059;

export interface JetStreamLogStreamDependencies {
  readonly manager: JetStreamManager;
  readonly inbox: ReplyInbox;
  readonly publisher: Publisher;
  readonly reads: BatchReads;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  /** The servers' limit for a message. */
  readonly messageBytesMax: number;
}

export class JetStreamLogStream implements LogStream {
  readonly payloadBytesMax: number;
  readonly #name: string;
  readonly #subject: string;
  readonly #dependencies: JetStreamLogStreamDependencies;

  private constructor(identity: LogIdentity, dependencies: JetStreamLogStreamDependencies) {
    this.#name = logStream(identity);
    this.#subject = logSubject(identity);
    this.#dependencies = dependencies;
    const { messageBytesMax } = dependencies;
    this.payloadBytesMax = Math.min(messageBytesMax - ENVELOPE_BYTES_MAX, PAYLOAD_BYTES_MAX);
  }

  /**
   * Makes the stream where there is none, and checks the one that is there. Nothing about an existing stream is changed.
   *
   * Throws EngineError RT0002 when it is set up in a way that can lose records, and as `untilAnswered` does.
   */
  static async open(
    { identity, replicas }: { readonly identity: LogIdentity; readonly replicas: ReplicaCount },
    dependencies: JetStreamLogStreamDependencies,
  ): Promise<JetStreamLogStream> {
    const { streams } = dependencies.manager;
    const wanted = wantedConfig(identity, replicas);
    const infoOrMake = (): Promise<StreamInfo> =>
      streams.info(wanted.name).catch((error: unknown) => {
        // A copy, because the library writes into it.
        if (codeOf(error) === STREAM_NOT_FOUND) return streams.add({ ...wanted });
        throw error;
      });
    const info = await untilAnswered(`the stream ${wanted.name}`, infoOrMake, dependencies);
    const problems = configProblems(info.config, wanted);
    if (problems.length === 0) return new JetStreamLogStream(identity, dependencies);
    const text = `the stream ${wanted.name} can lose records: ${problems.join('; ')}`;
    throw new EngineError('RT0002', text, { details: { stream: wanted.name, problems } });
  }

  publish(request: AppendRequest): () => void {
    return this.#dependencies.publisher.publish(this.#subject, request);
  }

  async get(sequence: number): Promise<StoredMessage | undefined> {
    if (sequence < 1) return undefined;
    const { streams } = this.#dependencies.manager;
    const message = await streams.getMessage(this.#name, { seq: sequence });
    return message === null ? undefined : { sequence: message.seq, payload: message.data };
  }

  async state(): Promise<StreamState> {
    const { state, ts } = await this.#dependencies.manager.streams.info(this.#name);
    if (ts === undefined) throw new EngineError('unavailable', 'a server told no time');
    return { first: Math.max(state.first_seq, 1), last: state.last_seq, now: Date.parse(ts) };
  }

  async *messages(from: number, signal: AbortSignal): AsyncIterable<readonly StoredMessage[]> {
    let next = from;
    let pauseMs = FOLLOW_TICK_MS;
    for (;;) {
      const batch = await this.#readBatch(next, signal);
      const last = batch.messages.at(-1);
      if (last !== undefined) {
        next = last.sequence + 1;
        yield batch.messages;
      }
      if (last !== undefined && batch.hasMore) continue;
      pauseMs = last === undefined ? Math.min(pauseMs * 2, FOLLOW_TICK_MS_MAX) : FOLLOW_TICK_MS;
      await this.#nextTick(pauseMs, signal);
    }
  }

  async purgeBelow(sequence: number): Promise<void> {
    await this.#dependencies.manager.streams.purge(this.#name, { seq: sequence });
  }

  onReconnect(listener: () => void): Disposable {
    return this.#dependencies.inbox.onReconnect(listener);
  }

  /** Nothing, when it cannot be read now. Rejects with the signal's reason. */
  async #readBatch(from: number, signal: AbortSignal): Promise<Batch> {
    signal.throwIfAborted();
    try {
      const batch = await this.#dependencies.reads.read(this.#name, from, signal);
      const messages = gapless(batch.messages, from);
      const isWhole = messages.length === batch.messages.length;
      // What a server lacks in the middle is asked for again, unless the stream's leader says that there is no such message.
      if (isWhole || !(await this.#mayHold(from + messages.length))) return batch;
      return { messages, hasMore: false };
    } catch {
      signal.throwIfAborted();
      return { messages: [], hasMore: false };
    }
  }

  /** False when the stream's leader says that there is no such message. */
  #mayHold(sequence: number): Promise<boolean> {
    return this.get(sequence).then(
      (message) => message !== undefined,
      () => true,
    );
  }

  #nextTick(ms: number, signal: AbortSignal): Promise<void> {
    const { clock, scheduler } = this.#dependencies;
    return delay(scheduler, ms - (clock.monotonic() % ms), signal);
  }
}

/** The messages that follow each other from `next` on. */
function gapless(messages: readonly StoredMessage[], next: number): readonly StoredMessage[] {
  const end = messages.findIndex(({ sequence }, index) => sequence !== next + index);
  return end === -1 ? messages : messages.slice(0, end);
}

function codeOf(error: unknown): number | undefined {
  return error instanceof JetStreamApiError ? error.code : undefined;
}
