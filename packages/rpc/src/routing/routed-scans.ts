/**
 * Introspection of all partitions, wherever they are led: partition by partition, in the order of their ranges. A partition whose
 * leader cannot be reached is waited for; then the scan fails rather than leave something out.
 */

import {
  isEngineError,
  partitionOfInvocation,
  partitionOfKey,
  toPartitionId,
  EngineError,
  type Hashes,
  type InvocationId,
  type PartitionId,
} from '@engine/domain';
import { delay, type Clock, type Scheduler } from '@engine/runtime';
import type {
  InvocationScan,
  InvocationSnapshot,
  JournalScan,
  JournalScanOptions,
  JournalSnapshot,
  ScanOptions,
  StateScan,
  StateScanOptions,
  StateSnapshot,
} from '@engine/wire';

import { RETRY_MS_MAX, RETRY_MS_MIN, SCAN_LEADER_WAIT_MS_MAX } from '../limits.js';
import type { LeaderDirectory } from './leader-directory.js';
import type { LocalWorker, PartitionRouterOptions } from './partition-router.js';
import type { WorkerLinks } from './worker-links.js';

type Scans = InvocationScan & JournalScan & StateScan;

export interface RoutedScansDependencies {
  readonly directory: LeaderDirectory;
  readonly links: WorkerLinks;
  readonly local?: LocalWorker<Scans> | undefined;
  readonly hashes: Hashes;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
}

/** Errors of every method: EngineError `unavailable` when a leader could not be reached within the wait. */
export class RoutedScans implements InvocationScan, JournalScan, StateScan {
  readonly #waitMsMax: number;
  readonly #dependencies: RoutedScansDependencies;

  constructor(options: PartitionRouterOptions, dependencies: RoutedScansDependencies) {
    this.#waitMsMax = Math.min(options.leaderWaitMs, SCAN_LEADER_WAIT_MS_MAX);
    this.#dependencies = dependencies;
  }

  async *scan(options: ScanOptions): AsyncGenerator<InvocationSnapshot> {
    const { ids, limit, after } = options;
    if (ids !== undefined) {
      yield* this.#scanIds(ids.slice(0, limit));
      return;
    }
    yield* this.#inTurn(
      { from: after === undefined ? undefined : this.#partitionOf(after), limit, after },
      (scans, range) => scans.scan(range),
      ({ id }) => id,
    );
  }

  async *scanJournal(options: JournalScanOptions): AsyncGenerator<JournalSnapshot> {
    const { id, limit, after } = options;
    const start = id ?? after?.id;
    const from = start === undefined ? undefined : this.#partitionOf(start);
    yield* this.#inTurn(
      { from, isOnly: id !== undefined, limit, after },
      (scans, range) => scans.scanJournal({ ...range, id }),
      ({ id: last, index }) => ({ id: last, index }),
    );
  }

  async *scanState(options: StateScanOptions): AsyncGenerator<StateSnapshot> {
    const { service, limit, after } = options;
    const key = service === undefined ? undefined : options.key;
    const start = key ?? after?.key;
    const { directory, hashes } = this.#dependencies;
    const { partitionCount } = directory.current;
    const from =
      start === undefined ? undefined : partitionOfKey(start, { partitionCount, hashes });
    yield* this.#inTurn(
      { from, isOnly: key !== undefined, limit, after },
      (scans, range) => scans.scanState({ ...range, service, key }),
      (last) => ({ service: last.service, key: last.key, stateKey: last.stateKey }),
    );
  }

  async *#inTurn<Row, Position>(
    range: {
      readonly from: PartitionId | undefined;
      readonly isOnly?: boolean;
      readonly limit: number;
      readonly after: Position | undefined;
    },
    read: (
      scans: Scans,
      range: {
        readonly partition: PartitionId;
        readonly limit: number;
        readonly after: Position | undefined;
      },
    ) => AsyncIterable<Row>,
    positionOf: (row: Row) => Position,
  ): AsyncGenerator<Row> {
    const { partitionCount } = this.#dependencies.directory.current;
    const first = range.from ?? toPartitionId(0);
    const end = range.isOnly === true ? first + 1 : partitionCount;
    let left = range.limit;
    for (let id = first as number; id < end && left > 0; id += 1) {
      let after = id === first ? range.after : undefined;
      const partition = toPartitionId(id);
      const rows = this.#resumed(partition, (scans) =>
        read(scans, { partition, limit: left, after }),
      );
      for await (const row of rows) {
        after = positionOf(row);
        left -= 1;
        yield row;
        if (left <= 0) return;
      }
    }
  }

  /** Asked partition by partition, given in the order of the ids. */
  async *#scanIds(ids: readonly InvocationId[]): AsyncGenerator<InvocationSnapshot> {
    const wanted = new Map<PartitionId, InvocationId[]>();
    for (const id of ids) {
      const partition = this.#partitionOf(id);
      const list = wanted.get(partition);
      if (list === undefined) wanted.set(partition, [id]);
      else list.push(id);
    }
    const found = new Map<InvocationId, InvocationSnapshot>();
    for (const [partition, list] of wanted) {
      const rows = this.#resumed(partition, (scans) =>
        scans.scan({ ids: list, limit: list.length, partition }),
      );
      for await (const row of rows) found.set(row.id, row);
    }
    for (const id of ids) {
      const row = found.get(id);
      if (row !== undefined) yield row;
    }
  }

  /** Reads from the leader, and goes on with the next one when it is gone. `read` starts where the last one stopped. */
  async *#resumed<Row>(
    partition: PartitionId,
    read: (scans: Scans) => AsyncIterable<Row>,
  ): AsyncGenerator<Row> {
    const { clock, scheduler, directory } = this.#dependencies;
    let until: number | undefined;
    let waitMs = RETRY_MS_MIN;
    for (;;) {
      try {
        for await (const row of read(this.#leader(partition))) {
          until = undefined;
          waitMs = RETRY_MS_MIN;
          yield row;
        }
        return;
      } catch (error) {
        until ??= clock.monotonic() + this.#waitMsMax;
        if (!isEngineError(error) || error.code !== 'unavailable') throw error;
        if (clock.monotonic() >= until) throw notReached(partition, error);
      }
      directory.refresh();
      await delay(scheduler, waitMs);
      waitMs = Math.min(waitMs * 2, RETRY_MS_MAX);
    }
  }

  #leader(partition: PartitionId): Scans {
    const { directory, local, links } = this.#dependencies;
    const leader = directory.current.leaderOf(partition);
    if (leader === undefined) {
      throw new EngineError('unavailable', 'nobody leads it');
    }
    return leader.nodeId === local?.nodeId ? local.service : links.scans(leader.address);
  }

  #partitionOf(id: InvocationId): PartitionId {
    return partitionOfInvocation(id, this.#dependencies.directory.current.partitionCount);
  }
}

function notReached(partition: PartitionId, cause: EngineError): EngineError {
  return new EngineError(
    'unavailable',
    `partition ${String(partition)} has no leader that can be reached, so its rows would be missing (${cause.message}); try again later`,
    { cause, details: cause.details },
  );
}
