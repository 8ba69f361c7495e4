/** Memory twin of SharedLog: every instance on one history is a replica's view of the same log. */

import { EngineError } from '@engine/domain';
import { assert } from '@engine/stdx';
import { NO_MUTATIONS } from '@engine/wire';

import type { MemoryLogHistory } from './memory-partition-log.js';
import {
  assertContinues,
  chainAfter,
  type Checksum,
  type LogPosition,
  type LogRecord,
} from './record.js';
import type {
  ApplyRecord,
  Candidate,
  FollowOutcome,
  FollowRequest,
  LeaderLog,
  LogBreak,
  LogEnd,
  SharedLog,
  TakeOver,
} from './shared-log.js';

export interface MemorySharedLogDependencies {
  readonly history: MemoryLogHistory;
  readonly checksum: Checksum;
}

export class MemorySharedLog implements SharedLog {
  readonly #history: MemoryLogHistory;
  readonly #checksum: Checksum;

  constructor({ history, checksum }: MemorySharedLogDependencies) {
    this.#history = history;
    this.#checksum = checksum;
  }

  end(): Promise<LogEnd | undefined> {
    const last = this.#history.records.at(-1);
    if (last === undefined) return Promise.resolve(undefined);
    return Promise.resolve({ position: positionOf(last), epoch: last.epoch });
  }

  async follow({ from, apply, stopAtEnd, signal }: FollowRequest): Promise<FollowOutcome> {
    let position = from;
    for (;;) {
      signal.throwIfAborted();
      const next = this.#after(position);
      if (isBreak(next)) return next;
      if (next !== undefined) {
        await apply(next);
        position = positionOf(next);
      } else if (stopAtEnd) {
        return { kind: 'at-end', position, clockOffMs: 0 };
      } else {
        await this.#history.changed(signal);
      }
    }
  }

  async takeOver({ epoch, from, apply, signal }: Candidate): Promise<TakeOver> {
    let position = from;
    for (;;) {
      const followed = await this.follow({ from: position, apply, stopAtEnd: true, signal });
      if (followed.kind !== 'at-end') return followed;
      position = followed.position;
      const { sequence, chain } = position;
      const last = this.#history.records.at(-1);
      const known = last?.epoch ?? 0n;
      if (known >= epoch) return { kind: 'superseded', epoch: known };
      // Somebody else announced meanwhile: read on.
      if ((last?.sequence ?? 0n) !== sequence) continue;
      const unchained = { epoch, sequence: sequence + 1n, mutations: NO_MUTATIONS };
      const record = { ...unchained, chain: chainAfter(chain, unchained, this.#checksum) };
      this.#history.append(record);
      await apply(record);
      return { kind: 'leading', log: new MemoryLeaderLog(record, this.#history, apply) };
    }
  }

  trim(sequence: bigint): Promise<bigint> {
    const { records } = this.#history;
    const kept = records.findIndex((record) => record.sequence > sequence);
    records.splice(0, Math.max(0, kept < 0 ? records.length - 1 : kept));
    return Promise.resolve(records[0]?.sequence ?? 1n);
  }

  #after(position: LogPosition): LogRecord | LogBreak | undefined {
    const { records } = this.#history;
    const oldest = records[0]?.sequence ?? 1n;
    const last = records.at(-1)?.sequence ?? 0n;
    const { sequence, chain } = position;
    if (sequence > last) return { kind: 'ahead', last };
    if (sequence + 1n < oldest) return { kind: 'trimmed', oldest };
    const before = records[Number(sequence - oldest)];
    if (before !== undefined && before.chain !== chain) {
      return { kind: 'diverged', sequence, why: 'the store holds another record' };
    }
    const next = records[Number(sequence + 1n - oldest)];
    if (next === undefined || chainAfter(chain, next, this.#checksum) === next.chain) return next;
    return { kind: 'diverged', sequence: next.sequence, why: 'the chain does not continue' };
  }
}

class MemoryLeaderLog implements LeaderLog {
  readonly announcedAt = 0;
  readonly #history: MemoryLogHistory;
  readonly #apply: ApplyRecord;
  #position: LogPosition;
  #state: 'idle' | 'in-flight' | 'over' = 'idle';

  constructor(announcement: LogRecord, history: MemoryLogHistory, apply: ApplyRecord) {
    this.#history = history;
    this.#apply = apply;
    this.#position = positionOf(announcement);
  }

  get position(): LogPosition {
    return this.#position;
  }

  async commit(record: LogRecord): Promise<void> {
    assert(this.#state === 'idle', 'one record is in flight at most');
    assertContinues(this.#position, record);
    this.#state = 'in-flight';
    await Promise.resolve();
    if (this.#isOver()) return new Promise(() => undefined);
    if (this.#history.records.at(-1)?.chain !== this.#position.chain) {
      this.#state = 'over';
      throw new EngineError('deposed', 'another leader wrote to the log');
    }
    this.#history.append(record);
    await this.#apply(record);
    this.#position = positionOf(record);
    this.#state = 'idle';
  }

  resign(): void {
    this.#state = 'over';
  }

  /** Asked anew after every wait. */
  #isOver(): boolean {
    return this.#state === 'over';
  }
}

function isBreak(next: LogRecord | LogBreak | undefined): next is LogBreak {
  return next !== undefined && 'kind' in next;
}

function positionOf({ epoch, sequence, chain }: LogPosition): LogPosition {
  return { epoch, sequence, chain };
}
