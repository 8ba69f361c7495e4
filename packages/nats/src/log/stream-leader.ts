/** The log of a partition in the hands of its leader: a record is one message or several, applied to the store once they are durable. */

import { EngineError } from '@engine/domain';
import {
  assertContinues,
  type ApplyRecord,
  type LeaderLog,
  type LogPosition,
  type LogRecord,
} from '@engine/log';
import { assert } from '@engine/stdx';

import type { AppendOutcome } from './append.js';
import { encodeRecord } from './parts.js';
import type { StreamAppender } from './stream-appender.js';

export interface StreamLeaderOptions {
  /** As it stands in the log and in the store. */
  readonly announcement: LogRecord;
  readonly announcedAt: number;
  readonly payloadBytesMax: number;
}

export interface StreamLeaderDependencies {
  /** Stands behind the announcement. */
  readonly appender: StreamAppender;
  readonly apply: ApplyRecord;
}

export class StreamLeader implements LeaderLog {
  readonly announcedAt: number;
  readonly #payloadBytesMax: number;
  readonly #appender: StreamAppender;
  readonly #apply: ApplyRecord;
  #position: LogPosition;
  #isInFlight = false;

  constructor(options: StreamLeaderOptions, { appender, apply }: StreamLeaderDependencies) {
    const { epoch, sequence, chain } = options.announcement;
    this.#position = { epoch, sequence, chain };
    this.announcedAt = options.announcedAt;
    this.#payloadBytesMax = options.payloadBytesMax;
    this.#appender = appender;
    this.#apply = apply;
  }

  get position(): LogPosition {
    return this.#position;
  }

  async commit(record: LogRecord): Promise<void> {
    assert(!this.#isInFlight, 'one record of a partition is in flight at most');
    assertContinues(this.#position, record);
    // Stays set when this throws: after that the log takes nothing more.
    this.#isInFlight = true;
    for (const payload of encodeRecord(record, this.#payloadBytesMax)) {
      requireLanded(await this.#appender.append(payload));
    }
    await this.#apply(record);
    const { epoch, sequence, chain } = record;
    this.#position = { epoch, sequence, chain };
    this.#isInFlight = false;
  }

  resign(): void {
    this.#appender.stop();
    this.#isInFlight = true;
  }
}

/** Throws EngineError `deposed`, or `storage` when the stream does what it must not. */
function requireLanded(outcome: AppendOutcome): void {
  switch (outcome.kind) {
    case 'landed':
      return;
    case 'deposed':
      throw new EngineError('deposed', 'another leader wrote to the log of the partition');
    case 'broken':
      throw new EngineError('storage', outcome.why);
  }
}
