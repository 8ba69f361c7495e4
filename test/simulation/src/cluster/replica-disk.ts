/** What the disk of a worker holds of a partition, looked at from outside. */

import type { PartitionId } from '@engine/domain';
import { LOG_START, type Checksum, type LogPosition } from '@engine/log';
import { generationKey, PARTITION_PREFIX_BYTES, partitionPrefix, TABLES } from '@engine/storage';
import { generationRow, positionRow } from '@engine/wire';

import type { DiskKey, SimDisk } from '../simulator/disk.js';
import { diskKey, keyBytes } from '../simulator/kv-store.js';
import { RowsDigest } from './rows-digest.js';

export interface StoredReplica {
  readonly position: LogPosition;
  readonly digest: bigint;
  /** Rows that decisions write; keys relative to the partition. */
  readonly rows: ReadonlyMap<DiskKey, Uint8Array>;
}

/** Tables that storage and log keep for themselves: rows of them are no decisions. */
const OWN_TABLES: ReadonlySet<number> = new Set([TABLES.position, TABLES.chain]);

/** The current generation as the running process sees it; undefined when there is none. */
export function storedReplica(
  disk: SimDisk,
  partition: PartitionId,
  checksum: Checksum,
): StoredReplica | undefined {
  const named = disk.get(diskKey(generationKey(partition)));
  if (named === undefined) return undefined;
  const { generation } = generationRow.read(named);
  const prefix = diskKey(partitionPrefix({ partition, generation }));
  const digest = new RowsDigest(checksum);
  const rows = new Map<DiskKey, Uint8Array>();
  let position = LOG_START;
  for (const key of disk.keys()) {
    if (!key.startsWith(prefix)) continue;
    const value = disk.get(key);
    if (value === undefined) continue;
    const relative = keyBytes(key).subarray(PARTITION_PREFIX_BYTES);
    const [table = 0] = relative;
    if (table === TABLES.position) position = positionRow.read(value);
    if (OWN_TABLES.has(table)) continue;
    digest.replace(relative, undefined, value);
    rows.set(diskKey(relative), value);
  }
  const { epoch, sequence, chain } = position;
  return { position: { epoch, sequence, chain }, digest: digest.value, rows };
}
