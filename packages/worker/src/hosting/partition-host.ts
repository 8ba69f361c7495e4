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
} from '@engine/cluster';
import type { NodeId, PartitionId, PartitionReport } from '@engine/domain';
import type { SharedLog } from '@engine/log';
import type { Clock, Scheduler } from '@engine/runtime';
import { assertNever } from '@engine/stdx';
import type { AppliedPosition, NodePeers } from '@engine/wire';

import { onLeadershipAlarm, onPhase } from '../events.js';
import type { PartitionSeats } from '../partition-seats.js';
import { Handover } from './handover.js';
import { LeaderSeat } from './leader-seat.js';
import { ReplicaPart } from './replica-part.js';
import type { ReplicaStores } from './replica-stores.js';
import { StopRequests } from './stop-requests.js';

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

export class PartitionHost {
  readonly partition: PartitionId;
  readonly #node: NodeId;
  readonly #dependencies: PartitionHostDependencies;
  readonly #machine: Leadership;
  readonly #replica: ReplicaPart;
  readonly #handover: Handover;
  readonly #seat: LeaderSeat;
  readonly #stopRequests = new StopRequests();
  readonly #inputs: LeadershipInput[] = [];
  #isStepping = false;
  #scope = new AbortController();
  #hasPart = false;
  #isOver = false;

  constructor(options: PartitionHostOptions, dependencies: PartitionHostDependencies) {
    const { partition, node, handoverPatienceMs } = options;
    this.partition = partition;
    this.#node = node;
    this.#dependencies = dependencies;
    this.#machine = new Leadership({ handoverPatienceMs });
    const tell = (input: LeadershipInput): void => {
      this.tell(input);
    };
    const handover = new Handover({ ...dependencies, partition });
    this.#handover = handover;
    this.#replica = new ReplicaPart({ ...dependencies, partition, handover, tell });
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
    return this.#replica.position;
  }

  /** The store is opened with the first part that the node gets. */
  assigned(assignment: Assignment): void {
    this.#hasPart = assignment.role !== 'none';
    this.tell({ kind: 'assigned', assignment });
    if (this.#hasPart && !this.#replica.isBegun) this.#reopen('reopen');
  }

  /** Resolves once nothing runs here that was begun in an earlier epoch. */
  stopLeading(epoch: bigint): Promise<void> {
    const stopped = this.#stopRequests.add(epoch);
    this.tell({ kind: 'asked-to-stop', epoch });
    this.#answerStopRequests();
    return stopped;
  }

  tell(input: LeadershipInput): void {
    if (this.#isOver) return;
    this.#inputs.push(input);
    if (this.#isStepping) return;
    this.#isStepping = true;
    try {
      for (let next = this.#inputs.shift(); next !== undefined; next = this.#inputs.shift()) {
        this.#step(next);
      }
    } finally {
      this.#isStepping = false;
    }
    this.#answerStopRequests();
  }

  /** Ends at once. Resolves when the store is not used any more. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#scope.abort(new Error('the host was stopped'));
    this.#seat.letGo();
    this.#answerStopRequests();
    await this.#replica.close();
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
        this.#replica.follow(this.#scope.signal);
        return;
      case 'unfollow':
        this.#endScope();
        return;
      case 'reopen':
      case 'restore':
        this.#reopen(action.kind);
        return;
      case 'read-to-end':
        this.#replica.readToEnd(action.read);
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
      if (!signal.aborted) this.#replica.onStoreFailed(error);
    });
  }

  #endScope(): void {
    this.#scope.abort(new Error('the part of the node has changed'));
    this.#scope = new AbortController();
  }

  /** What was begun on the store before is over. */
  #reopen(how: 'reopen' | 'restore'): void {
    this.#endScope();
    this.#replica.reopen(how, this.#scope.signal);
  }

  async #askReplicas(signal: AbortSignal): Promise<void> {
    const replicas = await this.#handover.askReplicas(signal);
    this.tell({ kind: 'replicas-answered', replicas });
  }

  async #askToStop(
    { node, epoch }: Extract<LeadershipAction, { kind: 'ask-to-stop' }>,
    signal: AbortSignal,
  ): Promise<void> {
    const isWanted = (): boolean => this.#machine.report.epoch === epoch;
    if (node !== this.#node) await this.#handover.askToStop({ node, epoch, isWanted }, signal);
    signal.throwIfAborted();
    this.tell({ kind: 'predecessor-stopped', node, epoch });
  }

  /** Whatever kept the announcement from the log (an epoch, a clock, a break) is met again by reading on. */
  async #announce(epoch: bigint, signal: AbortSignal): Promise<void> {
    const { open } = this.#replica;
    if (open === undefined) return;
    await this.#replica.stopReading();
    if (await this.#seat.announce(epoch, open, signal)) return;
    this.#replica.follow(signal);
    this.tell({ kind: 'append-overtaken' });
  }

  async #rebuild(signal: AbortSignal): Promise<void> {
    const { open } = this.#replica;
    if (open !== undefined) await this.#seat.rebuild(open.replica, signal);
    if (!signal.aborted) this.tell({ kind: 'rebuilt' });
  }

  #answerStopRequests(): void {
    if (this.#stopRequests.isEmpty) return;
    this.#stopRequests.answer(this.hasLetGo ? undefined : this.#machine.report.epoch);
  }
}
