/** The object store of a cluster, as far as partitions use it: the two newest snapshots of each, and the restore from them. */

import { EngineError, type PartitionId } from '@engine/domain';
import type { LogPosition } from '@engine/log';
import type { KvEntry } from '@engine/storage';
import type { RestoreSource } from '@engine/storage-leveldb';

import type { ServerProcess } from '../simulator/process.js';

/** Snapshots of one partition that are kept; the log is trimmed below the older one. */
const KEPT = 2;

/** Rows that are written at once. */
const ROWS_PER_WRITE = 50;

/** Longest time for one piece, ms. */
const PIECE_MS_MAX = 20;

interface Snapshot {
  readonly position: LogPosition;
  /** Keys relative to the partition. */
  readonly rows: readonly KvEntry[];
}

export class SimSnapshots {
  /** Nobody can reach the object store while it is false. */
  isUp = true;
  readonly #kept = new Map<PartitionId, readonly Snapshot[]>();

  /** Newest last. */
  of(partition: PartitionId): readonly LogPosition[] {
    return (this.#kept.get(partition) ?? []).map(({ position }) => position);
  }

  add(partition: PartitionId, snapshot: Snapshot): void {
    const others = this.#kept.get(partition) ?? [];
    const newest = others.at(-1)?.position.sequence ?? 0n;
    if (snapshot.position.sequence <= newest) return;
    this.#kept.set(partition, [...others, snapshot].slice(-KEPT));
  }

  /** Up to where the log may be trimmed; undefined while there are not enough snapshots. */
  trimmable(partition: PartitionId): bigint | undefined {
    const kept = this.#kept.get(partition) ?? [];
    return kept.length < KEPT ? undefined : kept[0]?.position.sequence;
  }

  /** Restores for one process. */
  sourceFor(process: ServerProcess): RestoreSource {
    return {
      restore: async (partition, begin, signal) => {
        await process.turn(process.random.float() * PIECE_MS_MAX);
        if (!this.isUp) throw new EngineError('unavailable', 'the object store cannot be reached');
        const snapshot = this.#kept.get(partition)?.at(-1);
        if (snapshot === undefined) return undefined;
        const target = begin();
        for (let from = 0; from < snapshot.rows.length; from += ROWS_PER_WRITE) {
          await process.turn(process.random.float() * PIECE_MS_MAX);
          signal.throwIfAborted();
          await target.write(snapshot.rows.slice(from, from + ROWS_PER_WRITE));
        }
        const problem = await target.problem(snapshot.position);
        if (problem !== undefined) throw new EngineError('storage', problem);
        return snapshot.position;
      },
    };
  }
}
