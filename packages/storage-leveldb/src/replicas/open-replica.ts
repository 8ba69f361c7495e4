/** The replica of a partition as its host holds it, until it is opened anew. */

import { EngineError } from '@engine/domain';
import type { LogPosition, LogRecord } from '@engine/log';
import type { KvStore, PartitionPlace } from '@engine/storage';

import type { Replica } from '../replica.js';

export class OpenReplica {
  readonly place: PartitionPlace;
  readonly store: KvStore;
  readonly #replica: Replica;
  #lastApplied: Promise<void> = Promise.resolve();
  #isRetired = false;

  constructor(place: PartitionPlace, store: KvStore, replica: Replica) {
    this.place = place;
    this.store = store;
    this.#replica = replica;
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

  chainAt(sequence: bigint): Promise<bigint | undefined> {
    return Promise.resolve().then(() => this.#replica.chainAt(sequence));
  }

  /** Takes nothing more; waits for the record that is being applied. */
  async retire(): Promise<void> {
    this.#isRetired = true;
    await this.#lastApplied.catch(() => undefined);
  }
}
