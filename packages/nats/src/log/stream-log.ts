/** SharedLog on a stream: finds places, reads, verifies, takes over, trims. What a stream is, it does not know. */

import {
  type ApplyRecord,
  type Candidate,
  type Checksum,
  type FollowOutcome,
  type FollowRequest,
  type LogBreak,
  type LogEnd,
  type LogPosition,
  type SharedLog,
  type TakeOver,
} from '@engine/log';
import { isEngineError } from '@engine/domain';
import { delay, type Clock, type Scheduler } from '@engine/runtime';

import type { LogIdentity } from '../subjects.js';
import type { LogStream, StoredMessage, StreamState } from './log-stream.js';
import {
  decodeMessage,
  encodeAnnouncement,
  isLastPart,
  isLogBreak,
  RecordAssembler,
  type MessageHead,
} from './parts.js';
import { searchPlace, type PlaceFound } from './place-search.js';
import { StreamAppender } from './stream-appender.js';
import { StreamLeader } from './stream-leader.js';

/** A leader whose clock is further off the stream's does not lead. */
export const CLOCK_OFF_MS_MAX = 2_000;

/** Up to so many messages are read one by one: opening a reader costs more. */
const SINGLE_READS_MAX = 16;

const RETRY_DELAY_MS = 250;

/** A server that led the stream once may tell an older end until it hears of its successor: longer than a failover takes. */
const AHEAD_CONFIRM_MS = 10_000;

export interface StreamLogOptions {
  readonly identity: LogIdentity;
  /** A store that is ahead is reported only if it still is after so long. */
  readonly aheadConfirmMs?: number | undefined;
}

export interface StreamLogDependencies {
  readonly stream: LogStream;
  readonly checksum: Checksum;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
}

/** Reads on from a place: what is verified and the message after it. */
interface Cursor {
  readonly assembler: RecordAssembler;
  next: number;
}

export class StreamLog implements SharedLog {
  readonly #identity: LogIdentity;
  readonly #aheadConfirmMs: number;
  readonly #dependencies: StreamLogDependencies;

  constructor(options: StreamLogOptions, dependencies: StreamLogDependencies) {
    this.#identity = options.identity;
    this.#aheadConfirmMs = options.aheadConfirmMs ?? AHEAD_CONFIRM_MS;
    this.#dependencies = dependencies;
  }

  async end(): Promise<LogEnd | undefined> {
    const { stream } = this.#dependencies;
    let { first, last: at } = await stream.state();
    while (at >= first) {
      const head = await this.#head(at);
      // Trimmed meanwhile: the log has grown, too.
      if (head === undefined) ({ first, last: at } = await stream.state());
      else if (isLastPart(head)) return { position: positionOf(head), epoch: head.epoch };
      else at -= head.part + 1;
    }
    return undefined;
  }

  async follow({ from, apply, stopAtEnd, signal }: FollowRequest): Promise<FollowOutcome> {
    const cursor = await this.#open(from, signal);
    if ('kind' in cursor) return cursor;
    if (stopAtEnd) {
      const { last, clockOffMs } = await this.#endWithin(signal);
      const broken = await this.#readTo(cursor, last, { apply, signal });
      return broken ?? { kind: 'at-end', position: cursor.assembler.position, clockOffMs };
    }
    const { stream } = this.#dependencies;
    for await (const messages of stream.messages(cursor.next, signal)) {
      for (const message of messages) {
        signal.throwIfAborted();
        const broken = await this.#take(cursor, message, apply);
        if (broken !== undefined) return broken;
      }
    }
    signal.throwIfAborted();
    throw new Error('a reader without end has ended');
  }

  async takeOver(candidate: Candidate): Promise<TakeOver> {
    const { from, epoch, signal } = candidate;
    const { now, clockOffMs } = await this.#endWithin(signal);
    if (Math.abs(clockOffMs) > CLOCK_OFF_MS_MAX) return { kind: 'clock-off', byMs: clockOffMs };
    const cursor = await this.#open(from, signal);
    if ('kind' in cursor) return cursor;
    for (;;) {
      const { last } = await this.#endWithin(signal);
      const broken = await this.#readTo(cursor, last, candidate);
      if (broken !== undefined) return broken;
      const known = cursor.assembler.position.epoch;
      if (known >= epoch) return { kind: 'superseded', epoch: known };
      const log = await this.#announce(cursor, candidate, now);
      // Refused: somebody wrote meanwhile. Read on and try again.
      if (log !== undefined) return { kind: 'leading', log };
    }
  }

  async trim(sequence: bigint): Promise<bigint> {
    const { stream } = this.#dependencies;
    const state = await stream.state();
    const [oldest, end] = [await this.#head(state.first), await this.end()];
    if (oldest === undefined || end === undefined) return 1n;
    const upTo = sequence < end.position.sequence ? sequence : end.position.sequence - 1n;
    if (upTo < oldest.sequence) return oldest.sequence;
    const below = await this.#firstBehind(upTo, state);
    await stream.purgeBelow(below);
    return (await this.#head(below))?.sequence ?? upTo + 1n;
  }

  async #announce(
    cursor: Cursor,
    candidate: Candidate,
    announcedAt: number,
  ): Promise<StreamLeader | undefined> {
    const { epoch, node, apply, onHealth = () => undefined, signal } = candidate;
    const { checksum, ...dependencies } = this.#dependencies;
    const after = cursor.assembler.position;
    const { record, payload } = encodeAnnouncement(
      { after, epoch, node },
      this.#identity,
      checksum,
    );
    const appender = new StreamAppender(cursor.next - 1, { ...dependencies, onHealth });
    const outcome = await untilAborted(appender.append(payload), signal).catch((error: unknown) => {
      appender.stop();
      throw error;
    });
    if (outcome.kind !== 'landed') {
      appender.stop();
      if (outcome.kind === 'broken') throw new Error(outcome.why);
      return undefined;
    }
    await apply(record);
    const { payloadBytesMax } = dependencies.stream;
    return new StreamLeader(
      { announcement: record, announcedAt, payloadBytesMax },
      { appender, apply },
    );
  }

  /** Finds the place of a position; goes on over failures until the signal. */
  async #open(from: LogPosition, signal: AbortSignal): Promise<Cursor | LogBreak> {
    const { checksum, clock } = this.#dependencies;
    const openedAt = clock.monotonic();
    for (;;) {
      const place = await this.#search(await this.#endWithin(signal), from);
      switch (place.kind) {
        case 'place': {
          const assembler = new RecordAssembler({ identity: this.#identity, checksum, from });
          return { assembler, next: place.next };
        }
        case 'ahead':
          if (clock.monotonic() - openedAt >= this.#aheadConfirmMs) return place;
          break;
        case 'moved':
          break;
        default:
          return place;
      }
      await this.#pause(signal);
    }
  }

  async #search(state: StreamState, from: LogPosition): Promise<PlaceFound> {
    const search = searchPlace(state, from);
    let step = search.next();
    while (!step.done) {
      const message = await this.#dependencies.stream.get(step.value).catch(() => undefined);
      const head = message === undefined ? undefined : headOf(message);
      if (head === 'damaged') {
        return { kind: 'diverged', sequence: from.sequence, why: 'a message is damaged' };
      }
      step = search.next(head);
    }
    return step.value;
  }

  /** Reads up to the message `last`, which is there. */
  async #readTo(
    cursor: Cursor,
    last: number,
    { apply, signal }: { readonly apply: ApplyRecord; readonly signal: AbortSignal },
  ): Promise<LogBreak | undefined> {
    const { stream } = this.#dependencies;
    while (cursor.next <= last && last - cursor.next < SINGLE_READS_MAX) {
      const message = await stream.get(cursor.next).catch(() => undefined);
      signal.throwIfAborted();
      if (message === undefined) break;
      const broken = await this.#take(cursor, message, apply);
      if (broken !== undefined) return broken;
    }
    if (cursor.next > last) return undefined;
    for await (const messages of stream.messages(cursor.next, signal)) {
      for (const message of messages) {
        signal.throwIfAborted();
        const broken = await this.#take(cursor, message, apply);
        if (broken !== undefined || cursor.next > last) return broken;
      }
    }
    signal.throwIfAborted();
    throw new Error('a reader without end has ended');
  }

  async #take(
    cursor: Cursor,
    message: StoredMessage,
    apply: ApplyRecord,
  ): Promise<LogBreak | undefined> {
    if (message.sequence !== cursor.next) {
      const { sequence } = cursor.assembler.position;
      return { kind: 'diverged', sequence: sequence + 1n, why: 'messages are missing' };
    }
    const taken = cursor.assembler.take(message.payload);
    if (isLogBreak(taken)) return taken;
    cursor.next += 1;
    if (taken !== undefined) await apply(taken);
    return undefined;
  }

  /** The first message of the records after `sequence`, which is not the last one. */
  async #firstBehind(sequence: bigint, { first, last }: StreamState): Promise<number> {
    let [low, high] = [first, last];
    while (low < high) {
      const probe = Math.floor((low + high) / 2);
      const head = await this.#head(probe);
      if (head === undefined || head.sequence <= sequence) low = probe + 1;
      else high = probe;
    }
    return low;
  }

  async #head(sequence: number): Promise<MessageHead | undefined> {
    const message = await this.#dependencies.stream.get(sequence);
    return message === undefined ? undefined : decodeMessage(message.payload);
  }

  /** Where the stream stands now; goes on over failures until the signal. */
  async #endWithin(signal: AbortSignal): Promise<StreamState & { readonly clockOffMs: number }> {
    const { clock } = this.#dependencies;
    for (;;) {
      signal.throwIfAborted();
      const sentAt = clock.now();
      const state = await this.#dependencies.stream.state().catch(() => undefined);
      if (state !== undefined) {
        return {
          ...state,
          clockOffMs: clockOffBy({ sentAt, gotAt: clock.now(), streamAt: state.now }),
        };
      }
      await this.#pause(signal);
    }
  }

  #pause(signal: AbortSignal): Promise<void> {
    return delay(this.#dependencies.scheduler, RETRY_DELAY_MS, signal);
  }
}

/** Throws EngineError RT0009 for a format that this code does not read. */
function headOf({ payload }: StoredMessage): MessageHead | 'damaged' {
  try {
    return decodeMessage(payload);
  } catch (error) {
    if (isEngineError(error) && error.code === 'RT0009') throw error;
    return 'damaged';
  }
}

/** How far this clock is ahead of the stream's at least, whatever time the answer took. */
function clockOffBy(times: { sentAt: number; gotAt: number; streamAt: number }): number {
  if (times.streamAt < times.sentAt) return times.sentAt - times.streamAt;
  return times.streamAt > times.gotAt ? times.gotAt - times.streamAt : 0;
}

function positionOf({ epoch, sequence, chain }: LogPosition): LogPosition {
  return { epoch, sequence, chain };
}

/** The promise, or the signal's reason when that comes first. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    };
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
  });
}
