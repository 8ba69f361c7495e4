/** Memory twin of PartitionLog: keeps the records and hands each to `apply`, which puts it into the store of a test. */

import { assert } from '@engine/stdx';

import type { PartitionLog } from './partition-log.js';
import { assertContinues, LOG_START, type LogPosition, type LogRecord } from './record.js';

/** What outlives a leader: give the same one to the next log to reopen it. */
export class MemoryLogHistory {
  readonly records: LogRecord[] = [];
  /** Highest epoch that a leader took. */
  epoch = 0n;
  #waiting: (() => void)[] = [];

  /** Effects: wakes whoever waits for a change. */
  append(record: LogRecord): void {
    this.records.push(record);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  /** Resolves after the next append. Rejects with the signal's reason. */
  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
      };
      signal.addEventListener('abort', onAbort);
      this.#waiting.push(() => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      });
    });
  }
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
    this.history.append(record);
    this.#position = { epoch: record.epoch, sequence: record.sequence, chain: record.chain };
    this.#isInFlight = false;
  }
}
