/**
 * Which generation of a partition's rows counts. One row per partition names it; everything that stands under another generation is
 * rubbish: what a restore left behind that was broken off, or what a restore replaced.
 */

import { setImmediate as othersTurn } from 'node:timers/promises';

import { EngineError, toPartitionId, type PartitionId } from '@engine/domain';
import {
  generationKey,
  LAYOUTS,
  PARTITION_FORMAT,
  partitionPrefix,
  prefixEnd,
  readsPartitionFormat,
  type KvStore,
  type PartitionPlace,
} from '@engine/storage';
import { encodeRow, generationRow } from '@engine/wire';

/** Rows that are deleted at once; at 64 KiB per row at most 16 MiB are read for it. */
const SWEEP_ROWS = 256;

const GENERATION_MAX = 0xffff;

/** The first one of a partition. Generation 0 is that of a process without cluster. */
const GENERATION_FIRST = 1;

export class Generations {
  readonly #store: KvStore;
  /** Highest generation of each partition that has or had rows; a restore takes one above. */
  readonly #highest = new Map<PartitionId, number>();

  constructor(store: KvStore) {
    this.#store = store;
  }

  /**
   * The current generation of a partition, undefined when it never had one.
   *
   * Throws EngineError META0011 when its rows are of a format that this code does not read.
   */
  current(partition: PartitionId): PartitionPlace | undefined {
    const row = this.#store.get(generationKey(partition));
    if (row === undefined) return undefined;
    const { format, generation } = generationRow.read(row);
    if (readsPartitionFormat(format)) return { partition, generation };
    const message =
      `partition ${String(partition)} has storage format ${String(format)}; ` +
      `this server reads up to ${String(PARTITION_FORMAT)}`;
    throw new EngineError('META0011', message, { details: { partition, format } });
  }

  /** A place where nothing stands yet. What is put there does not count before `makeCurrent`. */
  fresh(partition: PartitionId): PartitionPlace {
    const current = this.current(partition)?.generation ?? 0;
    const last = Math.max(current, this.#highest.get(partition) ?? 0);
    const generation = last >= GENERATION_MAX ? GENERATION_FIRST : last + 1;
    this.#highest.set(partition, generation);
    return { partition, generation };
  }

  /** Effects: one row, durable when this resolves. What is to count must be durable before. */
  async makeCurrent({ partition, generation }: PartitionPlace): Promise<void> {
    const batch = this.#store.batch();
    const row = { format: PARTITION_FORMAT, generation };
    batch.put(generationKey(partition), encodeRow(generationRow, row));
    await batch.write({ sync: true });
  }

  /** The places whose rows do not count. Once, before anything else is done: costs a seek for each generation. */
  async rubbish(): Promise<readonly PartitionPlace[]> {
    const lt = Uint8Array.of(LAYOUTS.partition + 1);
    const places: PartitionPlace[] = [];
    let gte: Uint8Array = Uint8Array.of(LAYOUTS.partition);
    for (;;) {
      const [entry] = await this.#store.scan({ gte, lt, limit: 1 });
      if (entry === undefined) return places;
      const place = placeOf(entry.key);
      this.#highest.set(place.partition, place.generation);
      if (!this.#counts(place)) places.push(place);
      gte = prefixEnd(partitionPrefix(place));
    }
  }

  /** Deletes the rows of a place in slices, others take their turns between. Returns how many. Rejects with the signal's reason. */
  async sweep(place: PartitionPlace, signal: AbortSignal): Promise<number> {
    const prefix = partitionPrefix(place);
    const lt = prefixEnd(prefix);
    let gte = prefix;
    for (let swept = 0; ;) {
      signal.throwIfAborted();
      const rows = await this.#store.scan({ gte, lt, limit: SWEEP_ROWS });
      const last = rows.at(-1);
      if (last === undefined) return swept;
      const batch = this.#store.batch();
      for (const { key } of rows) batch.del(key);
      await batch.write({ sync: false });
      swept += rows.length;
      // Not from the beginning again: that would walk over all that was deleted.
      gte = last.key;
      await othersTurn();
    }
  }

  /** A format that cannot be read here counts too: a newer server may come back. */
  #counts({ partition, generation }: PartitionPlace): boolean {
    const row = this.#store.get(generationKey(partition));
    if (row === undefined) return generation === 0;
    const { format, generation: current } = generationRow.read(row);
    return !readsPartitionFormat(format) || generation === current;
  }
}

function placeOf(key: Uint8Array): PartitionPlace {
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength);
  return { partition: toPartitionId(view.getUint16(1)), generation: view.getUint16(3) };
}
