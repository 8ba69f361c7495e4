/**
 * The replica of a partition from one opening to the next. Once it is closed nothing more is applied through it, whoever still holds
 * it, so that the next opening finds the store at rest.
 */

import { EngineError } from '@engine/domain';
import type { LogPosition, LogRecord } from '@engine/log';
import type { KvStore, PartitionPlace } from '@engine/storage';

import type { PartitionReplica } from './replica-stores.js';

export class HostedReplica {
  readonly #replica: PartitionReplica;
  #applying: Promise<void> | undefined;
  #isClosed = false;
  #hasFailed = false;

  constructor(replica: PartitionReplica) {
    this.#replica = replica;
  }

  get place(): PartitionPlace {
    return this.#replica.place;
  }

  get store(): KvStore {
    return this.#replica.store;
  }

  get position(): LogPosition {
    return this.#replica.position;
  }

  /** True after a write of it was rejected: it must be opened anew. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Applies the record after the position. Rejects with EngineError `cancelled` once it is closed. */
  readonly apply = async (record: LogRecord): Promise<void> => {
    if (this.#isClosed) throw new EngineError('cancelled', 'the replica is closed');
    try {
      this.#applying = this.#replica.apply(record);
      await this.#applying;
    } catch (error) {
      this.#hasFailed = true;
      this.#isClosed = true;
      throw error;
    }
  };

  chainAt(sequence: bigint): Promise<bigint | undefined> {
    return this.#replica.chainAt(sequence);
  }

  /** Applies nothing from now on. Resolves when what was being applied is. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#applying?.catch(() => undefined);
  }
}
