import { SCAN_BATCH_BYTES_MAX, SCAN_BATCH_ROWS_MAX } from '../limits.js';
import type { Cell, Row } from '../table.js';

/** The rows of what a scan finds, in batches bounded by rows and by bytes. */
export async function* rowsInBatches<Found>(
  found: AsyncIterable<Found>,
  toRow: (found: Found) => Row,
): AsyncGenerator<readonly Row[]> {
  let rows: Row[] = [];
  let bytes = 0;
  for await (const each of found) {
    const row = toRow(each);
    rows.push(row);
    for (const cell of row) bytes += cellBytes(cell);
    if (rows.length < SCAN_BATCH_ROWS_MAX && bytes < SCAN_BATCH_BYTES_MAX) continue;
    yield rows;
    rows = [];
    bytes = 0;
  }
  if (rows.length > 0) yield rows;
}

/** Rough: of what can be long. */
function cellBytes(cell: Cell): number {
  return typeof cell === 'string' || cell instanceof Uint8Array ? cell.length : 0;
}
