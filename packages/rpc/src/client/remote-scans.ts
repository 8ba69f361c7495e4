/** Introspection of the partitions of one other worker, page by page. A page is asked for when its first row is wanted. */

import type { InvocationId } from '@engine/domain';
import {
  journalSnapshotFromWire,
  snapshotFromWire,
  stateSnapshotFromWire,
  type InvocationScan,
  type InvocationSnapshot,
  type JournalScan,
  type JournalScanOptions,
  type JournalSnapshot,
  type ScanOptions,
  type StateScan,
  type StateScanOptions,
  type StateSnapshot,
} from '@engine/wire';

import { SCAN_PAGE_LENGTH_MAX, SCAN_PAGE_MS_MAX } from '../limits.js';
import { SCAN, SCAN_JOURNAL, SCAN_STATE } from '../methods.js';
import { UnaryCaller, type UnaryDependencies } from './unary-caller.js';

/** Errors of every method, thrown at the page that fails: EngineError, `unavailable` when the worker cannot be reached in time. */
export class RemoteScans implements InvocationScan, JournalScan, StateScan {
  readonly #caller: UnaryCaller;

  constructor(address: string, dependencies: UnaryDependencies) {
    this.#caller = new UnaryCaller(address, dependencies);
  }

  /** Open pages fail. */
  stop(): void {
    this.#caller.stop();
  }

  async *scan({ ids, limit, after, partition }: ScanOptions): AsyncGenerator<InvocationSnapshot> {
    if (ids === undefined) {
      yield* inPages(limit, after, async (from: string | undefined, count) => {
        const request = { ids: [], after: from, limit: count, partition };
        const page = await this.#caller.ask(SCAN, request, SCAN_PAGE_MS_MAX);
        return { rows: page.snapshots.map(snapshotFromWire), next: page.nextAfter };
      });
      return;
    }
    const wanted = ids.slice(0, limit);
    for (let from = 0; from < wanted.length;) {
      const asked = wanted.slice(from, from + SCAN_PAGE_LENGTH_MAX);
      const request = { ids: asked, after: undefined, limit: asked.length, partition };
      const page = await this.#caller.ask(SCAN, request, SCAN_PAGE_MS_MAX);
      yield* page.snapshots.map(snapshotFromWire);
      const last = page.nextAfter as InvocationId | undefined;
      from += last === undefined ? asked.length : asked.lastIndexOf(last) + 1;
    }
  }

  async *scanJournal(options: JournalScanOptions): AsyncGenerator<JournalSnapshot> {
    const { id, limit, after, partition } = options;
    type From = { readonly id: string; readonly index: number } | undefined;
    yield* inPages(limit, after, async (from: From, count) => {
      const request = { id, after: from, limit: count, partition };
      const page = await this.#caller.ask(SCAN_JOURNAL, request, SCAN_PAGE_MS_MAX);
      return { rows: page.snapshots.map(journalSnapshotFromWire), next: page.nextAfter };
    });
  }

  async *scanState(options: StateScanOptions): AsyncGenerator<StateSnapshot> {
    const { service, key, limit, after, partition } = options;
    yield* inPages(limit, after, async (from: typeof after, count) => {
      const request = { service, key, after: from, limit: count, partition };
      const page = await this.#caller.ask(SCAN_STATE, request, SCAN_PAGE_MS_MAX);
      return { rows: page.snapshots.map(stateSnapshotFromWire), next: page.nextAfter };
    });
  }
}

interface Page<Row, Position> {
  readonly rows: readonly Row[];
  /** Undefined when there is nothing more. */
  readonly next: Position | undefined;
}

async function* inPages<Row, Position>(
  limit: number,
  after: Position | undefined,
  read: (from: Position | undefined, count: number) => Promise<Page<Row, Position>>,
): AsyncGenerator<Row> {
  let left = limit;
  let from = after;
  while (left > 0) {
    const page = await read(from, Math.min(left, SCAN_PAGE_LENGTH_MAX));
    yield* page.rows;
    left -= page.rows.length;
    if (page.next === undefined) return;
    from = page.next;
  }
}
