/**
 * Takes snapshots of the partitions that this node leads, deletes old ones, and trims logs behind them.
 *
 * The leader does it, because there is one, it is never behind, and it is the one that knows what its standbys have applied; what costs
 * most, compressing, summing and input and output, runs beside the main thread. A leader that was replaced and does not know yet does no harm: its
 * rows are history too, and what it deletes or trims is old by any list.
 *
 * One partition at a time. After an automatic snapshot the node rests for several times what it took.
 */

import { EngineError, type PartitionId, type PartitionReport } from '@engine/domain';
import type { Clock, Scheduler, Service } from '@engine/runtime';
import type { KvEntry } from '@engine/storage';
import type { NodeControl, NodePeers } from '@engine/wire';

import type { SnapshotEvent } from './events.js';
import {
  KEEPER_REST_FACTOR,
  KEEPER_RETRY_MS,
  KEEPER_RETRY_MS_MAX,
  KEEPER_ROUND_MS,
  SNAPSHOT_MS_MAX,
} from './limits.js';
import type { Snapshot } from './manifest.js';
import type { PartitionSnapshots } from './partition-snapshots.js';
import {
  isDue,
  snapshotBound,
  trimPoint,
  withBound,
  type HeldBound,
  type SnapshotPolicy,
} from './policy.js';

/** The replicas of this node. */
export interface KeptReplicas {
  /** The replica that is open, if one is. */
  opened(
    partition: PartitionId,
  ):
    { readonly position: { readonly sequence: bigint }; readonly writtenBytes: number } | undefined;
  /** Its rows as of one moment after the call, keys relative to the partition. */
  rows(partition: PartitionId): Promise<AsyncIterable<readonly KvEntry[]> | undefined>;
}

export interface SnapshotKeeperDependencies {
  readonly snapshots: PartitionSnapshots;
  readonly replicas: KeptReplicas;
  /** What this node leads. */
  readonly control: Pick<NodeControl, 'reports'>;
  /** What the others have applied. */
  readonly peers: NodePeers;
  /** As `SharedLog.trim` of the partition. */
  readonly trim: (partition: PartitionId, sequence: bigint) => Promise<bigint>;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly onEvent?: (event: SnapshotEvent) => void;
}

/** What is known of a partition while this node leads it. */
interface Kept {
  readonly since: number;
  /** Newest first; undefined: not read yet. */
  snapshots: readonly Snapshot[] | undefined;
  bounds: readonly HeldBound[];
  trimmed: bigint;
  failures: number;
  /** Nothing is tried before, on the monotonic clock. */
  notBeforeMs: number;
}

export class SnapshotKeeper implements Service {
  readonly #policy: SnapshotPolicy;
  readonly #dependencies: SnapshotKeeperDependencies;
  readonly #kept = new Map<PartitionId, Kept>();
  readonly #stopping = new AbortController();
  #tail: Promise<unknown> = Promise.resolve();
  #cancelRound = (): void => undefined;
  #restUntilMs = 0;

  constructor(policy: SnapshotPolicy, dependencies: SnapshotKeeperDependencies) {
    this.#policy = policy;
    this.#dependencies = dependencies;
  }

  start(): Promise<void> {
    this.#schedule();
    return Promise.resolve();
  }

  /**
   * Takes a snapshot now, whatever the policy says; after one that is under way.
   *
   * Throws EngineError `unavailable` when this node does not lead the partition, and what taking it throws.
   */
  take(partition: PartitionId): Promise<Snapshot> {
    return this.#inTurn(async () => {
      if (!(await this.#led()).has(partition)) {
        const message = `partition ${String(partition)} is not led here`;
        throw new EngineError('unavailable', message, { details: { partition } });
      }
      const snapshot = await this.#take(partition, this.#keptOf(partition));
      await this.#afterTake(partition);
      return snapshot;
    });
  }

  /** One look at everything that is led here: at most one snapshot, and trims. What fails is reported. Called by a timer, and by tests. */
  round(): Promise<void> {
    return this.#inTurn(() => this.#round());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new EngineError('cancelled', 'snapshots are not taken any more'));
    this.#cancelRound();
    await this.#tail;
  }

  #schedule(): void {
    const timer = this.#dependencies.scheduler.after(KEEPER_ROUND_MS, () => {
      void this.round()
        .catch(() => undefined)
        .finally(() => {
          if (!this.#isStopping()) this.#schedule();
        });
    });
    this.#cancelRound = () => {
      timer.cancel();
    };
  }

  async #round(): Promise<void> {
    const led = await this.#led();
    for (const partition of this.#kept.keys())
      if (!led.has(partition)) this.#kept.delete(partition);
    for (const partition of led.keys()) {
      const kept = this.#keptOf(partition);
      await this.#guard(partition, async () => {
        kept.snapshots ??= await this.#dependencies.snapshots.list(partition);
        await this.#trim(partition, kept);
      });
    }
    const due = this.#mostDue();
    if (due === undefined || this.#nowMs() < this.#restUntilMs) return;
    await this.#guard(due.partition, async () => {
      const startMs = this.#nowMs();
      await this.#take(due.partition, due.kept);
      const endMs = this.#nowMs();
      this.#restUntilMs = endMs + KEEPER_REST_FACTOR * (endMs - startMs);
      await this.#afterTake(due.partition);
    });
  }

  async #led(): Promise<ReadonlyMap<PartitionId, PartitionReport>> {
    const reports = await this.#dependencies.control.reports();
    return new Map([...reports].filter(([, { phase }]) => phase === 'leader'));
  }

  #keptOf(partition: PartitionId): Kept {
    const known = this.#kept.get(partition);
    if (known !== undefined) return known;
    const fresh: Kept = {
      since: this.#dependencies.clock.now(),
      snapshots: undefined,
      bounds: [],
      trimmed: 0n,
      failures: 0,
      notBeforeMs: 0,
    };
    this.#kept.set(partition, fresh);
    return fresh;
  }

  /** Of those that are due the one whose last snapshot is oldest. */
  #mostDue(): { readonly partition: PartitionId; readonly kept: Kept } | undefined {
    const { clock, replicas } = this.#dependencies;
    const due = [...this.#kept].filter(([partition, kept]) => {
      const opened = replicas.opened(partition);
      if (opened === undefined || kept.snapshots === undefined) return false;
      if (this.#nowMs() < kept.notBeforeMs) return false;
      const { writtenBytes, position } = opened;
      const [last] = kept.snapshots;
      const progress = { sequence: position.sequence, writtenBytes, since: kept.since, last };
      return isDue(this.#policy, progress, clock.now());
    });
    const age = (kept: Kept): number => kept.snapshots?.[0]?.manifest.takenAt ?? 0;
    due.sort(([, a], [, b]) => age(a) - age(b));
    const [first] = due;
    return first === undefined ? undefined : { partition: first[0], kept: first[1] };
  }

  async #take(partition: PartitionId, kept: Kept): Promise<Snapshot> {
    const { snapshots, replicas, onEvent } = this.#dependencies;
    const startMs = this.#nowMs();
    using limit = this.#limit();
    const sequence = replicas.opened(partition)?.position.sequence;
    const rows = sequence === undefined ? undefined : await replicas.rows(partition);
    if (sequence === undefined || rows === undefined) {
      throw new EngineError('unavailable', 'the store of the partition is not open');
    }
    const request = { partition, sequence, rows, signal: limit.signal };
    const snapshot = await snapshots.take(request);
    kept.snapshots = [snapshot, ...(kept.snapshots ?? [])];
    onEvent?.({ kind: 'taken', partition, snapshot, durationMs: this.#nowMs() - startMs });
    return snapshot;
  }

  /** Also after a snapshot on demand: failures do not undo it, they are tried again. */
  #afterTake(partition: PartitionId): Promise<void> {
    const kept = this.#keptOf(partition);
    return this.#guard(partition, async () => {
      kept.snapshots = await this.#dependencies.snapshots.prune(partition);
      await this.#trim(partition, kept);
    });
  }

  /** Trims as far as snapshots and the living standbys allow; the snapshots are looked for once more before. */
  async #trim(partition: PartitionId, kept: Kept): Promise<void> {
    const { snapshots, trim, onEvent } = this.#dependencies;
    kept.bounds = withBound(kept.bounds, snapshotBound(kept.snapshots ?? []), this.#nowMs());
    if ((kept.bounds.at(-1)?.sequence ?? 0n) <= kept.trimmed) return;
    const wanted = trimPoint(kept.bounds, await this.#standbys(partition), this.#nowMs());
    if (wanted <= kept.trimmed) return;
    kept.snapshots = await snapshots.list(partition);
    const bound = snapshotBound(kept.snapshots);
    const point = wanted < bound ? wanted : bound;
    if (point <= kept.trimmed) return;
    const oldest = await trim(partition, point);
    kept.trimmed = point;
    onEvent?.({ kind: 'trimmed', partition, oldest });
  }

  /** What each living node with a replica has applied. Who does not answer does not live. */
  async #standbys(partition: PartitionId): Promise<readonly bigint[]> {
    const { peers } = this.#dependencies;
    const asked = peers.workers.map(async (node) => {
      const reports = await peers.control(node)?.reports();
      const report = reports?.get(partition);
      const hasReplica =
        report !== undefined && report.phase !== 'idle' && report.phase !== 'quarantined';
      return hasReplica ? report.applied : undefined;
    });
    const answers = await Promise.allSettled(asked);
    return answers.flatMap((answer) =>
      answer.status === 'fulfilled' && answer.value !== undefined ? [answer.value] : [],
    );
  }

  /** Failures of one partition are reported and tried again later; they do not keep others from their turn. */
  async #guard(partition: PartitionId, body: () => Promise<void>): Promise<void> {
    const kept = this.#keptOf(partition);
    if (this.#nowMs() < kept.notBeforeMs || this.#isStopping()) return;
    try {
      await body();
      kept.failures = 0;
    } catch (error) {
      if (this.#isStopping()) return;
      const retryMs = Math.min(KEEPER_RETRY_MS * 2 ** kept.failures, KEEPER_RETRY_MS_MAX);
      kept.failures += 1;
      kept.notBeforeMs = this.#nowMs() + retryMs;
      this.#dependencies.onEvent?.({ kind: 'failed', partition, error, retryMs });
    }
  }

  /** Aborts when the keeper stops and when a snapshot takes too long. */
  #limit(): Disposable & { readonly signal: AbortSignal } {
    const late = new AbortController();
    const timer = this.#dependencies.scheduler.after(SNAPSHOT_MS_MAX, () => {
      late.abort(new EngineError('unavailable', 'the snapshot took too long'));
    });
    return {
      signal: AbortSignal.any([this.#stopping.signal, late.signal]),
      [Symbol.dispose]: () => {
        timer.cancel();
      },
    };
  }

  #inTurn<T>(body: () => Promise<T>): Promise<T> {
    const done = this.#tail.then(body);
    this.#tail = done.catch(() => undefined);
    return done;
  }

  /** Asked anew after every wait. */
  #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  #nowMs(): number {
    return this.#dependencies.clock.monotonic();
  }
}
