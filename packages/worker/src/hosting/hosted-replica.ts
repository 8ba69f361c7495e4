/**
 * The replica of a partition from one opening to the next. Once it is closed nothing more is applied through it, whoever still holds
 * it, so that the next opening finds the store at rest.
 */

import { EngineError } from '@engine/domain';
import type { LogPosition, LogRecord } from '@engine/log';
import type { KvReader, PartitionPlace } from '@engine/storage';

import type { PartitionReplica } from './replica-stores.js';

export class HostedReplica {
  readonly #replica: PartitionReplica;
  readonly #failures: Disposable;
  #applying: Promise<void> | undefined;
  #isClosed = false;
  #hasFailed = false;

  /** `onFailed` is called at once when what was applied cannot be written, unless the replica was closed before. */
  constructor(replica: PartitionReplica, onFailed: (error: unknown) => void) {
    this.#replica = replica;
    this.#failures = replica.onFailed((error) => {
      this.#fail();
      onFailed(error);
    });
  }

  get place(): PartitionPlace {
    return this.#replica.place;
  }

  get store(): KvReader {
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
      this.#fail();
      throw error;
    }
  };

  /** Resolves when what was applied so far is written. Rejects when it cannot be. */
  written(): Promise<void> {
    return this.#replica.written();
  }

  chainAt(sequence: bigint): Promise<bigint | undefined> {
    return this.#replica.chainAt(sequence);
  }

  /** Applies nothing from now on. Resolves when what was being applied is. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#failures[Symbol.dispose]();
    await this.#applying?.catch(() => undefined);
  }

  #fail(): void {
    this.#hasFailed = true;
    this.#isClosed = true;
  }
}
