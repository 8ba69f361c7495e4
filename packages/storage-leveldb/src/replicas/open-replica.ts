/** The replica of a partition as its host holds it, until it is opened anew. */

import { EngineError } from '@engine/domain';
import type { LogPosition, LogRecord } from '@engine/log';
import type { KvReader, PartitionPlace } from '@engine/storage';

import type { Replica } from '../replica.js';
import type { WriteBehind } from '../write-behind.js';

export class OpenReplica {
  readonly place: PartitionPlace;
  readonly #writes: WriteBehind;
  readonly #replica: Replica;
  #lastApplied: Promise<void> = Promise.resolve();
  #isRetired = false;

  constructor(place: PartitionPlace, writes: WriteBehind, replica: Replica) {
    this.place = place;
    this.#writes = writes;
    this.#replica = replica;
  }

  /** What was applied. */
  get store(): KvReader {
    return this.#writes;
  }

  /** True when it was opened anew, or is about to be: its rows may be going. */
  get isRetired(): boolean {
    return this.#isRetired;
  }

  /** After the last record that was applied; LOG_START for an empty store. */
  get position(): LogPosition {
    return this.#replica.position;
  }

  /** About how many bytes were ever written to the partition, here and where its snapshot was taken. */
  get writtenBytes(): number {
    return this.#replica.writtenBytes;
  }

  /** Rejects with EngineError `cancelled` when the replica was opened anew since. */
  readonly apply = (record: LogRecord): Promise<void> => {
    if (this.#isRetired) {
      return Promise.reject(new EngineError('cancelled', 'the replica was opened anew'));
    }
    this.#lastApplied = this.#replica.apply(record);
    return this.#lastApplied;
  };

  /** `listener` hears at once when what was applied cannot be written: the replica must be opened anew. */
  onFailed(listener: (error: unknown) => void): Disposable {
    return this.#writes.onFailed(listener);
  }

  /** Resolves when what was applied so far is written. Rejects with EngineError `storage` when that fails. */
  written(): Promise<void> {
    return this.#writes.written();
  }

  chainAt(sequence: bigint): Promise<bigint | undefined> {
    return Promise.resolve().then(() => this.#replica.chainAt(sequence));
  }

  /** Takes nothing more. Resolves when all that it took is written, or never will be. */
  async retire(): Promise<void> {
    this.#isRetired = true;
    await this.#lastApplied.catch(() => undefined);
    await this.written().catch(() => undefined);
  }
}
