/**
 * Reads messages of a stream in batches, from whichever of its servers answers: what that one has not stored yet is missing at the
 * end. A request and its answers, and no state on the servers that could be lost with one of them.
 */

import { EngineError } from '@engine/domain';
import type { Scheduler } from '@engine/runtime';
import type { Msg, NatsConnection } from '@nats-io/transport-node';

import type { ReplyInbox } from '../reply-inbox.js';
import type { StoredMessage } from './log-stream.js';

/** What one request brings at most. */
const BATCH_MESSAGES_MAX = 256;
const BATCH_BYTES_MAX = 2 * 1024 * 1024;

/** A request has failed when nothing came for so long. */
const SILENCE_MS_MAX = 2_000;

const END_OF_BATCH = 204;
const NOT_FOUND = 404;

export interface Batch {
  readonly messages: readonly StoredMessage[];
  /** The server has more behind them. */
  readonly hasMore: boolean;
}

export interface BatchReadsDependencies {
  readonly connection: NatsConnection;
  readonly inbox: ReplyInbox;
  readonly scheduler: Scheduler;
}

export class BatchReads {
  readonly #dependencies: BatchReadsDependencies;

  constructor(dependencies: BatchReadsDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * The messages of a stream from a sequence on, in order; those that were removed are left out. Rejects with EngineError `unavailable`
   * when nobody answers in time, and with the signal's reason.
   */
  read(stream: string, from: number, signal: AbortSignal): Promise<Batch> {
    const { connection, inbox, scheduler } = this.#dependencies;
    const done = Promise.withResolvers<Batch>();
    if (!inbox.isConnected) return Promise.reject(unavailable('there is no connection'));
    const messages: StoredMessage[] = [];
    const reply = inbox.expect((message) => {
      silence.cancel();
      silence = scheduler.after(SILENCE_MS_MAX, onSilent);
      const end = endOf(message);
      if (end === undefined) messages.push(storedMessage(message));
      else if (end.isGood) done.resolve({ messages, hasMore: end.hasMore });
      else done.reject(unavailable(end.why));
    });
    const onSilent = (): void => {
      done.reject(unavailable('no answer'));
    };
    const onAbort = (): void => {
      done.reject(signal.reason);
    };
    let silence = scheduler.after(SILENCE_MS_MAX, onSilent);
    signal.addEventListener('abort', onAbort, { once: true });
    const request = { seq: from, batch: BATCH_MESSAGES_MAX, max_bytes: BATCH_BYTES_MAX };
    connection.publish(`$JS.API.DIRECT.GET.${stream}`, JSON.stringify(request), {
      reply: reply.subject,
    });
    return done.promise.finally(() => {
      silence.cancel();
      reply.forget();
      signal.removeEventListener('abort', onAbort);
    });
  }
}

type End =
  | { readonly isGood: true; readonly hasMore: boolean }
  | { readonly isGood: false; readonly why: string };

/** Undefined for a message of the stream. */
function endOf({ headers, data }: Msg): End | undefined {
  if (headers === undefined || headers.code === 0 || data.length > 0) return undefined;
  if (headers.code === NOT_FOUND) return { isGood: true, hasMore: false };
  if (headers.code !== END_OF_BATCH) return { isGood: false, why: headers.description };
  return { isGood: true, hasMore: Number(headers.get('Nats-Num-Pending')) > 0 };
}

function storedMessage({ headers, data }: Msg): StoredMessage {
  return { sequence: Number(headers?.get('Nats-Sequence')), payload: data };
}

function unavailable(why: string): EngineError {
  return new EngineError('unavailable', `the stream cannot be read: ${why}`);
}
