/**
 * Performs the writes of a controller. Each is a compare-and-set; whatever was not acknowledged is read back before the controller is
 * told, so that it never goes by what it only wished.
 */

import type { ControllerAction, ControllerInput } from '@engine/cluster';
import { isEngineError, type NodeId, type PartitionTable } from '@engine/domain';
import {
  buryLease,
  CONTROLLER_LEASE,
  encodeLease,
  encodePartitionTable,
  LEASE_PREFIX,
  nodeLease,
  PARTITION_TABLE_DOCUMENT,
  type ExpectedVersion,
  type MetadataStore,
} from '@engine/metadata';
import { delay, type Clock, type Scheduler } from '@engine/runtime';

import type { ClusterReader } from './cluster-reader.js';
import { nodeBuried, storeFailed, tableWritten } from './events.js';

const READ_BACK_RETRY_MS = 250;

export type ControllerWrite = Exclude<ControllerAction, { readonly kind: 'alarm' }>;

export interface ControllerWritesOptions {
  readonly self: NodeId;
  /** One life of this process. */
  readonly holder: string;
  readonly ttlMs: number;
}

export interface ControllerWritesDependencies {
  readonly store: MetadataStore;
  readonly reader: ClusterReader;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly signal: AbortSignal;
  /** The table in force, as far as it is known. */
  readonly table: () => PartitionTable | undefined;
  readonly tell: (input: ControllerInput) => void;
}

/** What a write came to: a version, another's write in the way, or nobody knows. */
type Outcome = bigint | 'conflict' | 'unknown';

export class ControllerWrites {
  readonly #options: ControllerWritesOptions;
  readonly #dependencies: ControllerWritesDependencies;
  #renewals = 0;

  constructor(options: ControllerWritesOptions, dependencies: ControllerWritesDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Resolves when its outcome was told. Never rejects. */
  async perform(write: ControllerWrite): Promise<void> {
    switch (write.kind) {
      case 'write-lease':
        await this.#writeLease(write.expected);
        return;
      case 'write-table':
        await this.#writeTable(write);
        return;
      case 'bury':
        await this.#bury(write);
        return;
    }
  }

  /** Lets go of the controller lease at `revision`: another admin takes it at once. Rejects when that was not acknowledged. */
  async release(revision: bigint): Promise<void> {
    await this.#dependencies.store.put(LEASE_NAME, this.#lease(true), revision);
  }

  async #writeLease(expected: ExpectedVersion): Promise<void> {
    const { reader, clock, tell } = this.#dependencies;
    const sentAt = clock.monotonic();
    const outcome = await this.#put(LEASE_NAME, expected, () => this.#lease(false));
    if (typeof outcome === 'bigint') {
      tell({ kind: 'lease-written', revision: outcome, sentAt });
      return;
    }
    await this.#readBack(() => reader.readControllerLease());
    tell({ kind: 'lease-refused' });
  }

  async #writeTable({
    table,
    expected,
  }: Extract<ControllerWrite, { kind: 'write-table' }>): Promise<void> {
    const { reader, tell } = this.#dependencies;
    const before = this.#dependencies.table();
    const encode = (): Uint8Array => encodePartitionTable(table);
    const outcome = await this.#put(PARTITION_TABLE_DOCUMENT, expected, encode);
    tableWritten(table, before, outcome);
    if (typeof outcome === 'bigint') {
      tell({ kind: 'table', table, revision: outcome });
      tell({ kind: 'table-written', revision: outcome });
      return;
    }
    await this.#readBack(() => reader.readTable());
    tell({ kind: 'table-refused' });
  }

  async #bury({ node, expected }: Extract<ControllerWrite, { kind: 'bury' }>): Promise<void> {
    const { store, reader, tell } = this.#dependencies;
    try {
      const isBuried = await buryLease(store, { name: nodeLease(node), version: expected });
      tell({ kind: 'access-succeeded', of: 'write' });
      nodeBuried(node, isBuried);
    } catch (error) {
      storeFailed(error);
      tell({ kind: 'access-failed' });
    }
    await this.#readBack(() => reader.readNodeLeases());
    tell({ kind: 'bury-ended', node });
  }

  #lease(isGone: boolean): Uint8Array {
    const { self, holder, ttlMs } = this.#options;
    this.#renewals += 1;
    return encodeLease({ holder, ttlMs, renewals: this.#renewals, isGone, note: self });
  }

  async #put(name: string, expected: ExpectedVersion, encode: () => Uint8Array): Promise<Outcome> {
    const { store, tell } = this.#dependencies;
    try {
      const version = await store.put(name, encode(), expected);
      tell({ kind: 'access-succeeded', of: 'write' });
      return version;
    } catch (error) {
      const isConflict = isEngineError(error) && error.code === 'conflict';
      if (isConflict) {
        tell({ kind: 'access-succeeded', of: 'write' });
        return 'conflict';
      }
      storeFailed(error);
      tell({ kind: 'access-failed' });
      return 'unknown';
    }
  }

  /** Until it succeeds, or the driver stops. */
  async #readBack(read: () => Promise<void>): Promise<void> {
    const { scheduler, signal, tell } = this.#dependencies;
    while (!signal.aborted) {
      try {
        await read();
        tell({ kind: 'access-succeeded', of: 'read' });
        return;
      } catch (error) {
        storeFailed(error);
        tell({ kind: 'access-failed' });
      }
      await delay(scheduler, READ_BACK_RETRY_MS, signal).catch(() => undefined);
    }
  }
}

const LEASE_NAME = LEASE_PREFIX + CONTROLLER_LEASE;
