/**
 * The driver of one `Leadership` (docs/design/leadership.md): what log, store, peers and worker tell goes into the machine, and what comes
 * out is performed in order. It decides nothing by itself.
 *
 * What was begun before a `stop`, an `unfollow` or another opening of the store is not heard after it: it belongs to a scope whose signal
 * is aborted by then.
 */

import {
  Leadership,
  type Assignment,
  type LeadershipAction,
  type LeadershipInput,
  type ReplicaPosition,
} from '@engine/cluster';
import type { NodeId, PartitionId, PartitionReport } from '@engine/domain';
import { LOG_START, type LogBreak, type LogPosition, type SharedLog } from '@engine/log';
import { delay, type Clock, type Scheduler } from '@engine/runtime';
import { assertNever } from '@engine/stdx';
import type { AppliedPosition, NodePeers } from '@engine/wire';

import {
  onLeadershipAlarm,
  onLogBroken,
  onPhase,
  onStoreFailed,
  onTakeOverFailed,
} from '../events.js';
import type { PartitionSeats } from '../partition-seats.js';
import { askReplicas, askToStop, type Asking } from './handover.js';
import type { HostedReplica } from './hosted-replica.js';
import { LeaderSeat } from './leader-seat.js';
import { LogReader, type EndReached, type LogReaderListener } from './log-reader.js';
import { ReplicaOpener, type Opened } from './replica-opener.js';
import type { ReplicaStores } from './replica-stores.js';

/** Between a take-over that failed and the next try. */
const TAKE_OVER_RETRY_MS = 500;

export interface PartitionHostOptions {
  readonly partition: PartitionId;
  readonly node: NodeId;
  /** TTL of the leases of nodes. */
  readonly handoverPatienceMs: number;
}

export interface PartitionHostDependencies {
  readonly worker: PartitionSeats;
  readonly openLog: (partition: PartitionId) => Promise<SharedLog>;
  readonly stores: ReplicaStores;
  readonly peers: NodePeers;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly mayBeginAttempts: () => boolean;
}

/** Log and replica between two openings. */
interface Open {
  readonly log: SharedLog;
  readonly replica: HostedReplica;
  readonly reader: LogReader;
}

export class PartitionHost implements LogReaderListener {
  readonly partition: PartitionId;
  readonly #options: PartitionHostOptions;
  readonly #dependencies: PartitionHostDependencies;
  readonly #machine: Leadership;
  readonly #opener: ReplicaOpener;
  readonly #seat: LeaderSeat;
  readonly #inputs: LeadershipInput[] = [];
  #isStepping = false;
  #scope = new AbortController();
  #open: Open | undefined;
  /** The opening under way, or the last one: one at a time works on the store. */
  #opening: Promise<void> | undefined;
  /** What the replicas answered last. */
  #replicas: readonly ReplicaPosition[] = [];
  #askers: { readonly epoch: bigint; readonly resolve: () => void }[] = [];
  #hasPart = false;
  #isOver = false;

  constructor(options: PartitionHostOptions, dependencies: PartitionHostDependencies) {
    const { partition, node, handoverPatienceMs } = options;
    this.partition = partition;
    this.#options = options;
    this.#dependencies = dependencies;
    this.#machine = new Leadership({ handoverPatienceMs });
    this.#opener = new ReplicaOpener({ ...dependencies, partition });
    const tell = (input: LeadershipInput): void => {
      this.tell(input);
    };
    this.#seat = new LeaderSeat({ ...dependencies, partition, node, tell });
  }

  /** True when nothing that this node began as a leader runs any more. */
  get hasLetGo(): boolean {
    return this.#isOver || this.#machine.hasLetGo;
  }

  /** False when the table gives the node no part, and nothing of an earlier one goes on. */
  get hasPart(): boolean {
    return this.#hasPart || this.#machine.phase !== 'idle';
  }

  get report(): PartitionReport {
    const { report } = this.#machine;
    return { ...report, applied: this.applied?.sequence ?? report.applied };
  }

  /** Where the replica stands; undefined while none is open. */
  get applied(): AppliedPosition | undefined {
    return this.#open?.replica.position;
  }

  /** The store is opened with the first part that the node gets. */
  assigned(assignment: Assignment): void {
    this.#hasPart = assignment.role !== 'none';
    this.tell({ kind: 'assigned', assignment });
    if (this.#hasPart && this.#opening === undefined) this.#reopen('reopen');
  }

  /** Resolves once nothing runs here that was begun in an earlier epoch. */
  stopLeading(epoch: bigint): Promise<void> {
    return new Promise((resolve) => {
      this.#askers.push({ epoch, resolve });
      this.tell({ kind: 'asked-to-stop', epoch });
      this.#answerAskers();
    });
  }

  tell(input: LeadershipInput): void {
    if (this.#isOver) return;
    this.#inputs.push(input);
    if (this.#isStepping) return;
    this.#isStepping = true;
    for (let next = this.#inputs.shift(); next !== undefined; next = this.#inputs.shift()) {
      this.#step(next);
    }
    this.#isStepping = false;
    this.#answerAskers();
  }

  /** Ends at once. Resolves when the store is not used any more. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#scope.abort(new Error('the host was stopped'));
    this.#seat.letGo();
    this.#answerAskers();
    await this.#open?.replica.close();
    await this.#opening;
  }

  #step(input: LeadershipInput): void {
    const before = this.#machine.phase;
    const actions = this.#machine.step(input, this.#dependencies.clock.monotonic());
    const { phase } = this.#machine;
    if (phase !== before) onPhase(this.partition, phase, this.#machine.report);
    for (const action of actions) this.#perform(action);
  }

  #perform(action: LeadershipAction): void {
    switch (action.kind) {
      case 'follow':
        this.#open?.reader.start(this.#scope.signal);
        return;
      case 'unfollow':
        this.#endScope();
        return;
      case 'reopen':
      case 'restore':
        this.#reopen(action.kind);
        return;
      case 'read-to-end':
        this.#open?.reader.readToEnd(action.read);
        return;
      case 'ask-replicas':
        this.#run((signal) => this.#askReplicas(signal));
        return;
      case 'ask-to-stop':
        this.#run((signal) => this.#askToStop(action, signal));
        return;
      case 'announce':
        this.#run((signal) => this.#announce(action.epoch, signal));
        return;
      case 'settle-append':
        // The log does so by itself.
        return;
      case 'rebuild':
        this.#run((signal) => this.#rebuild(signal));
        return;
      case 'serve':
        this.#run(() => this.#seat.serve());
        return;
      case 'hold-attempts':
        this.#seat.hold();
        return;
      case 'resume-attempts':
        this.#run(() => this.#seat.resume());
        return;
      case 'stop':
        this.#endScope();
        this.#seat.letGo();
        this.tell({ kind: 'stopped' });
        return;
      case 'alarm':
        onLeadershipAlarm(this.partition, action.fault);
        return;
      default:
        assertNever(action);
    }
  }

  /** What fails without a word of its own leaves the store in doubt. */
  #run(work: (signal: AbortSignal) => Promise<void>): void {
    const { signal } = this.#scope;
    work(signal).catch((error: unknown) => {
      if (!signal.aborted) this.onStoreFailed(error);
    });
  }

  #endScope(): void {
    this.#scope.abort(new Error('the part of the node has changed'));
    this.#scope = new AbortController();
  }

  /** What the store was opened for before is over. */
  #reopen(how: 'reopen' | 'restore'): void {
    this.#endScope();
    const { signal } = this.#scope;
    const [before, left] = [this.#opening, this.#open];
    this.#open = undefined;
    this.#opening = (async () => {
      await before;
      await left?.replica.close();
      const opened = await this.#opener.open(how, signal).catch(() => undefined);
      if (opened !== undefined && !signal.aborted) this.#onOpened(opened);
    })();
  }

  #onOpened(opened: Opened): void {
    if (opened.kind !== 'opened') {
      const verdict = opened.kind === 'format' ? 'format' : 'trimmed';
      this.tell({ kind: 'opened', verdict, position: LOG_START });
      return;
    }
    const { log, replica } = opened;
    const { partition } = this;
    const { scheduler } = this.#dependencies;
    const reader = new LogReader({ partition, log, replica, scheduler, listener: this });
    this.#open = { log, replica, reader };
    this.tell({ kind: 'opened', verdict: 'continues', position: replica.position });
  }

  onRecord(position: LogPosition): void {
    this.tell({ kind: 'records-read', position });
  }

  async onEnd(read: number, { position, clockOffMs }: EndReached): Promise<void> {
    const { signal } = this.#scope;
    this.#opener.proven();
    const chains = new Map<bigint, bigint | undefined>();
    for (const { sequence } of this.#replicas) {
      if (sequence >= position.sequence) continue;
      chains.set(sequence, await this.#open?.replica.chainAt(sequence));
    }
    if (signal.aborted) return;
    const tail = { end: position, chainAt: (sequence: bigint) => chains.get(sequence) };
    this.tell({ kind: 'end-reached', read, tail, clockSkewMs: clockOffMs });
  }

  onBreak(found: LogBreak): void {
    onLogBroken(this.partition, found);
    if (found.kind === 'trimmed') this.tell({ kind: 'log-trimmed' });
    else
      this.tell({ kind: 'log-broken', fault: found.kind === 'ahead' ? 'ahead' : 'other-branch' });
  }

  onStoreFailed(error: unknown): void {
    onStoreFailed(this.partition, error);
    this.tell({ kind: 'store-failed' });
  }

  async #askReplicas(signal: AbortSignal): Promise<void> {
    const replicas = await askReplicas(this.#asking(signal));
    this.#replicas = replicas;
    this.tell({ kind: 'replicas-answered', replicas });
  }

  async #askToStop(
    { node, epoch }: Extract<LeadershipAction, { kind: 'ask-to-stop' }>,
    signal: AbortSignal,
  ): Promise<void> {
    const isWanted = (): boolean => this.#machine.report.epoch === epoch;
    if (node !== this.#options.node)
      await askToStop(this.#asking(signal), { node, epoch, isWanted });
    if (!signal.aborted) this.tell({ kind: 'predecessor-stopped', node, epoch });
  }

  #asking(signal: AbortSignal): Asking {
    const { peers, scheduler } = this.#dependencies;
    return { partition: this.partition, peers, scheduler, signal };
  }

  /** Tried until the log says something: an announcement that landed unnoticed is found there as an epoch that is known. */
  async #announce(epoch: bigint, signal: AbortSignal): Promise<void> {
    const open = this.#open;
    if (open === undefined) return;
    await open.reader.stop();
    for (;;) {
      signal.throwIfAborted();
      try {
        if (await this.#seat.announce(epoch, open, signal)) return;
        break;
      } catch (error) {
        if (signal.aborted || open.replica.hasFailed) throw error;
        onTakeOverFailed(this.partition, error);
        await delay(this.#dependencies.scheduler, TAKE_OVER_RETRY_MS, signal);
      }
    }
    signal.throwIfAborted();
    open.reader.start(signal);
    this.tell({ kind: 'append-overtaken' });
  }

  async #rebuild(signal: AbortSignal): Promise<void> {
    if (this.#open !== undefined) await this.#seat.rebuild(this.#open.replica, signal);
    if (!signal.aborted) this.tell({ kind: 'rebuilt' });
  }

  #answerAskers(): void {
    if (this.#askers.length === 0) return;
    const { epoch: led } = this.#machine.report;
    const hasLetGo = this.hasLetGo;
    this.#askers = this.#askers.filter(({ epoch, resolve }) => {
      const isFree = hasLetGo || led >= epoch;
      if (isFree) resolve();
      return !isFree;
    });
  }
}
