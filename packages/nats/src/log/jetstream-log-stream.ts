/** LogStream on JetStream. Control and reads go through the library, appends through the shared inbox. */

import { EngineError } from '@engine/domain';
import { delay, type Clock, type Scheduler } from '@engine/runtime';
import {
  AckPolicy,
  DeliverPolicy,
  JetStreamApiError,
  type ConsumerMessages,
  type JetStreamClient,
  type JetStreamManager,
  type StreamInfo,
} from '@nats-io/jetstream';

import type { AckInbox } from '../ack-inbox.js';
import { logStream, logSubject, type LogIdentity } from '../subjects.js';
import { untilAnswered } from '../until-answered.js';
import type { AppendRequest, LogStream, StoredMessage, StreamState } from './log-stream.js';
import { configProblems, wantedConfig, type ReplicaCount } from './stream-config.js';

/** Bytes that a reader fetches ahead. */
const READ_AHEAD_BYTES = 4 * 1024 * 1024;
const READ_EXPIRES_MS = 30_000;
/** A reader that hears nothing for two of these is opened again. */
const READ_HEARTBEAT_MS = 1_000;
/** A reader that went away is forgotten by the servers after so long. */
const READER_KEPT_NANOS = 10_000_000_000;
const RETRY_DELAY_MS = 250;

/** Larger messages delay everything behind them on a connection. */
const PAYLOAD_BYTES_MAX = 1024 * 1024;
/** Subject, headers and framing count towards the servers' limit. */
const ENVELOPE_BYTES_MAX = 512;

const STREAM_NOT_FOUND = 10_059;

export interface JetStreamLogStreamDependencies {
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly inbox: AckInbox;
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
    return this.#dependencies.inbox.publish(this.#subject, request);
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

  async *messages(from: number, signal: AbortSignal): AsyncIterable<StoredMessage> {
    let next = from;
    for (;;) {
      signal.throwIfAborted();
      const reader = await this.#openReader(next).catch(() => undefined);
      if (reader !== undefined) {
        for await (const message of withinSignal(reader, signal)) {
          // What was on its way when a connection broke does not come again: another reader brings it.
          if (message.seq > next && (await this.#mayHold(next))) break;
          next = message.seq + 1;
          yield { sequence: message.seq, payload: message.data };
        }
      }
      await delay(this.#dependencies.scheduler, RETRY_DELAY_MS, signal);
    }
  }

  async purgeBelow(sequence: number): Promise<void> {
    await this.#dependencies.manager.streams.purge(this.#name, { seq: sequence });
  }

  onReconnect(listener: () => void): Disposable {
    return this.#dependencies.inbox.onReconnect(listener);
  }

  /** False when the stream's leader says that there is no such message. */
  #mayHold(sequence: number): Promise<boolean> {
    return this.get(sequence).then(
      (message) => message !== undefined,
      () => true,
    );
  }

  async #openReader(from: number): Promise<ConsumerMessages> {
    const { manager, client } = this.#dependencies;
    const { name } = await manager.consumers.add(this.#name, {
      ack_policy: AckPolicy.None,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: from,
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: READER_KEPT_NANOS,
    });
    const consumer = await client.consumers.get(this.#name, name);
    const messages = await consumer.consume({
      max_bytes: READ_AHEAD_BYTES,
      expires: READ_EXPIRES_MS,
      idle_heartbeat: READ_HEARTBEAT_MS,
      abort_on_missing_resource: true,
    });
    void stopWhenSilent(messages);
    return messages;
  }
}

async function stopWhenSilent(messages: ConsumerMessages): Promise<void> {
  for await (const status of messages.status()) {
    if (status.type === 'heartbeats_missed') messages.stop();
  }
}

/** The messages until the reader ends, which an abort makes it do. Effects: the reader is stopped. */
async function* withinSignal(
  messages: ConsumerMessages,
  signal: AbortSignal,
): AsyncGenerator<{ readonly seq: number; readonly data: Uint8Array }> {
  const stop = (): void => {
    messages.stop();
  };
  // Aborted while the reader was being made: there is no event any more, and one that is stopped before it is read never ends.
  if (signal.aborted) {
    stop();
    return;
  }
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const message of messages) {
      if (isAborted(signal)) return;
      yield message;
    }
  } catch {
    // The reader is gone with its server: it is opened again.
  } finally {
    signal.removeEventListener('abort', stop);
    messages.stop();
  }
}

/** Asked anew after every wait. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

function codeOf(error: unknown): number | undefined {
  return error instanceof JetStreamApiError ? error.code : undefined;
}
