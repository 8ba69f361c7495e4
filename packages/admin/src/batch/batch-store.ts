/**
 * The batch operations of the cluster as documents of the metadata store: a fixed number of places, each with one of them. Every
 * change is a compare-and-set, so nobody's change is lost; all are kept in memory as well, they are few.
 */

import { EngineError, isEngineError } from '@engine/domain';
import {
  batchOperationDocument,
  decodeBatchOperation,
  encodeBatchOperation,
  type BatchOperation,
  type MetadataStore,
} from '@engine/metadata';
import type { Clock } from '@engine/runtime';
import { unreadableBatch } from '../events.js';
import { BATCH_KEPT_MAX, BATCH_KEPT_MS_MAX } from '../limits.js';

/** How often a change starts again because someone else was faster. */
const CHANGE_ATTEMPTS_MAX = 16;

interface Kept {
  readonly version: bigint;
  /** Undefined when the document cannot be read; then its place is left alone. */
  readonly batch: BatchOperation | undefined;
}

interface Found {
  readonly place: number;
  readonly version: bigint;
  readonly batch: BatchOperation;
}

export class BatchStore {
  readonly #metadata: MetadataStore;
  readonly #clock: Clock;
  readonly #places = new Map<number, Kept>();

  constructor(metadata: MetadataStore, clock: Clock) {
    this.#metadata = metadata;
    this.#clock = clock;
  }

  /** Reads all places. To be called once, first. */
  async load(): Promise<void> {
    for (let place = 0; place < BATCH_KEPT_MAX; place += 1) await this.#refresh(place);
  }

  /** All that are remembered, newest first. */
  list(): readonly BatchOperation[] {
    return [...this.#places.values()]
      .flatMap(({ batch }) => (batch === undefined || this.#isExpired(batch) ? [] : [batch]))
      .sort((a, b) => (a.id < b.id ? 1 : -1));
  }

  get(id: string): BatchOperation | undefined {
    return this.#find(id)?.batch;
  }

  /** Errors: `not-found`. */
  require(id: string): BatchOperation {
    return this.#require(id).batch;
  }

  /** Resolves when it is durable. The one that ended first makes room when there is none. */
  async add(batch: BatchOperation): Promise<void> {
    await this.#untilFirst(() => {
      const place = this.#freePlace();
      return { place, version: this.#places.get(place)?.version, after: batch };
    });
  }

  /**
   * Replaces it by what `change` makes of the newest one. `change` may run several times, and may throw to refuse; returning its
   * argument writes nothing. Resolves when the result is durable. Errors: `not-found`, `conflict` when others were always faster.
   */
  change(id: string, change: (batch: BatchOperation) => BatchOperation): Promise<BatchOperation> {
    return this.#untilFirst(() => {
      const { place, version, batch } = this.#require(id);
      const after = change(batch);
      return after === batch ? batch : { place, version, after };
    });
  }

  async #untilFirst(
    next: () =>
      | BatchOperation
      | {
          readonly place: number;
          readonly version: bigint | undefined;
          readonly after: BatchOperation;
        },
  ): Promise<BatchOperation> {
    for (let attempt = 1; ; attempt += 1) {
      const write = next();
      if (!('place' in write)) return write;
      const { place, version, after } = write;
      try {
        const bytes = encodeBatchOperation(after);
        const name = batchOperationDocument(place);
        const written = await this.#metadata.put(name, bytes, version ?? 'absent');
        this.#accept(place, { version: written, batch: after });
        return after;
      } catch (error) {
        const wasOvertaken = isEngineError(error) && error.code === 'conflict';
        if (!wasOvertaken || attempt >= CHANGE_ATTEMPTS_MAX) throw error;
        await this.#refresh(place);
      }
    }
  }

  async #refresh(place: number): Promise<void> {
    const entry = await this.#metadata.get(batchOperationDocument(place));
    if (entry === undefined) return;
    this.#accept(place, { version: entry.version, batch: read(entry.value, place) });
  }

  #accept(place: number, kept: Kept): void {
    const known = this.#places.get(place);
    if (known === undefined || known.version < kept.version) this.#places.set(place, kept);
  }

  /** One that was never used, else the one whose batch operation ended first. */
  #freePlace(): number {
    let first: { readonly place: number; readonly endedAt: number } | undefined;
    for (let place = 0; place < BATCH_KEPT_MAX; place += 1) {
      const kept = this.#places.get(place);
      if (kept === undefined) return place;
      const endedAt = kept.batch?.endedAt;
      if (endedAt === undefined || endedAt >= (first?.endedAt ?? Infinity)) continue;
      first = { place, endedAt };
    }
    if (first !== undefined) return first.place;
    throw new EngineError('overloaded', 'no more batch operations can be remembered');
  }

  #require(id: string): Found {
    const found = this.#find(id);
    if (found !== undefined) return found;
    throw new EngineError(
      'not-found',
      `unknown batch operation '${id}'; ended ones are forgotten after some days`,
    );
  }

  #find(id: string): Found | undefined {
    for (const [place, { version, batch }] of this.#places) {
      if (batch?.id === id && !this.#isExpired(batch)) return { place, version, batch };
    }
    return undefined;
  }

  #isExpired({ endedAt }: BatchOperation): boolean {
    return endedAt !== undefined && endedAt + BATCH_KEPT_MS_MAX <= this.#clock.now();
  }
}

function read(bytes: Uint8Array, place: number): BatchOperation | undefined {
  try {
    return decodeBatchOperation(bytes);
  } catch (error) {
    unreadableBatch(place, error);
    return undefined;
  }
}
