/** Journals and state as introspection sees them: committed rows, read while the reader takes them. */

import type {
  JournalPosition,
  JournalScanOptions,
  JournalSnapshot,
  StateScanOptions,
  StateSnapshot,
} from '@engine/wire';

import type { Partition } from './partition.js';
import { shownJournalLength } from './snapshots.js';

/** One read of the store. */
const PAGE = { rowsMax: 256, bytesMax: 4 * 1024 * 1024 };

/** Entries of one partition behind `after`, of `id` or of all invocations that are shown. `now`: ms since the epoch. */
export async function* journalSnapshots(
  partition: Partition,
  { id, after }: Pick<JournalScanOptions, 'id' | 'after'>,
  now: number,
): AsyncGenerator<JournalSnapshot> {
  let last: JournalPosition | undefined = after;
  let checked: { readonly id: string; readonly length: number } | undefined;
  for (;;) {
    const { rows, hasMore } = await partition.scan.journals(id, last, PAGE);
    for (const { key, row } of rows) {
      if (checked?.id !== key.id) {
        checked = { id: key.id, length: shownJournalLength(partition, key.id, now) };
      }
      if (key.index < checked.length) yield { id: key.id, index: key.index, entry: row };
    }
    if (!hasMore) return;
    last = rows.at(-1)?.key;
  }
}

/** Values of one partition behind `after`, of one owner. */
export async function* stateSnapshots(
  partition: Partition,
  { service, key, after }: Pick<StateScanOptions, 'service' | 'key' | 'after'>,
  partitionKeyOf: (key: string) => bigint,
): AsyncGenerator<StateSnapshot> {
  let last = after;
  for (;;) {
    const { rows, hasMore } = await partition.scan.state({ service, key }, last, PAGE);
    for (const { key: at, row: value } of rows) {
      const partitionKey = partitionKeyOf(at.key);
      yield { partitionKey, service: at.service, key: at.key, stateKey: at.stateKey, value };
    }
    if (!hasMore) return;
    last = rows.at(-1)?.key;
  }
}
