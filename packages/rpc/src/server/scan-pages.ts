/** Pages of scans: cut by rows and by bytes, so that one page is neither long to make nor large to send. */

import { toPartitionId, type InvocationId, type PartitionId } from '@engine/domain';
import {
  journalSnapshotToWire,
  snapshotToWire,
  stateSnapshotToWire,
  wireSizeOf,
  type InvocationScan,
  type JournalScan,
  type StateScan,
  type wire,
} from '@engine/wire';

import { SCAN_PAGE_BYTES_MAX, SCAN_PAGE_LENGTH_MAX } from '../limits.js';

export async function scanPage(
  scans: InvocationScan,
  request: wire.ScanRequest,
): Promise<wire.ScanResponse> {
  const ids = request.ids as InvocationId[];
  const { snapshots, isCut } = await pageOf(
    scans.scan({
      ids: ids.length === 0 ? undefined : ids,
      after: request.after as InvocationId | undefined,
      limit: pageLength(request.limit),
      partition: partitionOf(request),
    }),
    { limit: pageLength(request.limit), toWire: snapshotToWire, sizeOf: wireSizeOf.invocation },
  );
  return { snapshots, nextAfter: isCut ? snapshots.at(-1)?.id : undefined };
}

export async function scanJournalPage(
  scans: JournalScan,
  request: wire.ScanJournalRequest,
): Promise<wire.ScanJournalResponse> {
  const { after } = request;
  const { snapshots, isCut } = await pageOf(
    scans.scanJournal({
      id: request.id as InvocationId | undefined,
      after: after === undefined ? undefined : { id: after.id as InvocationId, index: after.index },
      limit: pageLength(request.limit),
      partition: partitionOf(request),
    }),
    { limit: pageLength(request.limit), toWire: journalSnapshotToWire, sizeOf: wireSizeOf.journal },
  );
  const last = snapshots.at(-1);
  if (!isCut || last === undefined) return { snapshots, nextAfter: undefined };
  return { snapshots, nextAfter: { id: last.id, index: last.index } };
}

export async function scanStatePage(
  scans: StateScan,
  request: wire.ScanStateRequest,
): Promise<wire.ScanStateResponse> {
  const { service, key, after } = request;
  const { snapshots, isCut } = await pageOf(
    scans.scanState({
      service,
      key,
      after,
      limit: pageLength(request.limit),
      partition: partitionOf(request),
    }),
    { limit: pageLength(request.limit), toWire: stateSnapshotToWire, sizeOf: wireSizeOf.state },
  );
  return { snapshots, nextAfter: isCut ? snapshots.at(-1)?.position : undefined };
}

function pageLength(limit: number): number {
  return Math.min(Math.max(limit, 1), SCAN_PAGE_LENGTH_MAX);
}

function partitionOf({
  partition,
}: {
  readonly partition?: number | undefined;
}): PartitionId | undefined {
  return partition === undefined ? undefined : toPartitionId(partition);
}

interface PageOptions<Row, Message> {
  readonly limit: number;
  readonly toWire: (row: Row) => Message;
  readonly sizeOf: (message: Message) => number;
}

async function pageOf<Row, Message>(
  rows: AsyncIterable<Row>,
  { limit, toWire, sizeOf }: PageOptions<Row, Message>,
): Promise<{ readonly snapshots: Message[]; readonly isCut: boolean }> {
  const snapshots: Message[] = [];
  let bytes = 0;
  for await (const row of rows) {
    const message = toWire(row);
    snapshots.push(message);
    bytes += sizeOf(message);
    if (snapshots.length >= limit || bytes >= SCAN_PAGE_BYTES_MAX)
      return { snapshots, isCut: true };
  }
  return { snapshots, isCut: false };
}
