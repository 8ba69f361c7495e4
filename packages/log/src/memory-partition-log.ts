/** Memory twin of PartitionLog: keeps the records and hands each to `apply`, which puts it into the store of a test. */

import { assert } from '@engine/stdx';

import type { PartitionLog } from './partition-log.js';
import { assertContinues, LOG_START, type LogPosition, type LogRecord } from './record.js';

/** What outlives a leader: give the same one to the next log to reopen it. */
export class MemoryLogHistory {
  readonly records: LogRecord[] = [];
  /** Highest epoch that a leader took. */
  epoch = 0n;
}

export interface MemoryPartitionLogDependencies {
  readonly history?: MemoryLogHistory;
  /** Runs before the record counts as applied; a rejection rejects the commit and the log takes nothing more. */
  readonly apply?: (record: LogRecord) => Promise<void> | undefined;
}

export class MemoryPartitionLog implements PartitionLog {
  readonly history: MemoryLogHistory;
  readonly #apply: (record: LogRecord) => Promise<void> | undefined;
  #position: LogPosition;
  #isInFlight = false;

  constructor(dependencies: MemoryPartitionLogDependencies = {}) {
    this.history = dependencies.history ?? new MemoryLogHistory();
    this.#apply = dependencies.apply ?? (() => undefined);
    this.history.epoch += 1n;
    const { sequence, chain } = this.history.records.at(-1) ?? LOG_START;
    this.#position = { epoch: this.history.epoch, sequence, chain };
  }

  get position(): LogPosition {
    return this.#position;
  }

  commit(record: LogRecord): Promise<void> {
    return Promise.resolve().then(() => this.#append(record));
  }

  async #append(record: LogRecord): Promise<void> {
    assert(!this.#isInFlight, 'one record is in flight at most');
    assertContinues(this.#position, record);
    this.#isInFlight = true;
    await this.#apply(record);
    this.history.records.push(record);
    this.#position = { epoch: record.epoch, sequence: record.sequence, chain: record.chain };
    this.#isInFlight = false;
  }
}
