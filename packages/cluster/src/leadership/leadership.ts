/**
 * The part of one node in one partition: follower, candidate, leader (SPEC LDR-1 to LDR-13, docs/design/leadership.md). What happens
 * goes in, what to do comes out; the driver performs the actions in order and tells what came of them.
 *
 * It is total: an input that does not fit the phase changes nothing. It trusts the log alone: the table says who should try,
 * the announcement in the log says who leads.
 */

import type { LeadershipFault, NodeId, PartitionPhase, PartitionReport } from '@engine/domain';
import { LOG_START, type LogPosition } from '@engine/log';
import type { LeaseState } from '@engine/metadata';
import { assertNever } from '@engine/stdx';

import { lostTail, type LogTail, type ReplicaPosition, type StoreVerdict } from './chain-checks.js';
import type { Assignment, LeadershipAction, LeadershipInput } from './leadership-io.js';

/** Without an acknowledgement for so long an append, and with it the partition, is unhealthy. */
export const ACKNOWLEDGEMENT_SILENCE_MS_MAX = 15_000;

/** Record times follow the leader's clock, so one that is further off the log's clock does not lead. */
export const CLOCK_SKEW_MS_MAX = 2_000;

export interface LeadershipOptions {
  /** How long living predecessors are waited for: the TTL of node leases. After it they have let go of their attempts themselves. */
  readonly handoverPatienceMs: number;
}

type EndReached = Extract<LeadershipInput, { kind: 'end-reached' }>;

const NOTHING: readonly LeadershipAction[] = [];

/**
 * Steps of a candidate: read to the end while the predecessor still leads, so that only a node that can lead stops it; ask it to stop and
 * the replicas what they have; read the rest. Replicas answer before the last read, so the log must have whatever they have.
 */
type Candidacy =
  | { readonly step: 'catching-up' }
  | {
      readonly step: 'asking';
      readonly since: number;
      /** Predecessors that have not stopped. */
      readonly running: readonly NodeId[];
      readonly replicas: readonly ReplicaPosition[] | undefined;
    }
  | {
      readonly step: 'reading';
      readonly replicas: readonly ReplicaPosition[];
      /** A replica had more than the log: read once more before that is believed. */
      readonly isSecondLook: boolean;
    };

const CATCHING_UP: Candidacy = { step: 'catching-up' };

export class Leadership {
  readonly #options: LeadershipOptions;
  #phase: PartitionPhase = 'idle';
  #isOpen = false;
  #assignment: Assignment = { role: 'none', epoch: 0n };
  #candidacy: Candidacy = CATCHING_UP;
  /** Epoch of the announcement that is on its way or in the log: from `announcing` to `stepping-down`. */
  #announced = 0n;
  #position: LogPosition = LOG_START;
  /** Highest epoch seen in the log or heard of. No candidacy at or below it. */
  #knownEpoch = 0n;
  #isCaughtUp = false;
  /** Number of the last `read-to-end`; what comes of earlier ones is not heard. */
  #reads = 0;
  #lease: LeaseState = 'lost';
  /** Since when an append has no known outcome. */
  #silentSince: number | undefined;
  #isStuck = false;
  #fault: LeadershipFault | undefined;

  constructor(options: LeadershipOptions) {
    this.#options = options;
  }

  get phase(): PartitionPhase {
    return this.#phase;
  }

  /** True when nothing that this node began as a leader runs any more: what `asked-to-stop` waits for. */
  get hasLetGo(): boolean {
    return !LEADING.has(this.#phase);
  }

  get report(): PartitionReport {
    const isLeading = LEADING.has(this.#phase);
    return {
      phase: this.#phase,
      epoch: isLeading ? this.#announced : this.#assignment.epoch,
      logEpoch: this.#knownEpoch,
      applied: this.#position.sequence,
      isCaughtUp: this.#isCaughtUp,
      isStuck: this.#isStuck,
      fault: this.#fault,
    };
  }

  /** Takes what happened, at `now` in ms of a monotonic clock, and gives what to do, in this order. */
  step(input: LeadershipInput, now: number): readonly LeadershipAction[] {
    switch (input.kind) {
      case 'opened':
        return this.#onOpened(input.verdict, input.position);
      case 'assigned':
        return this.#onAssigned(input.assignment);
      case 'asked-to-stop':
        return this.#onAskedToStop(input.epoch);
      case 'records-read':
        return this.#onRecords(input.position);
      case 'end-reached':
        return input.read === this.#reads ? this.#onEnd(input, now) : NOTHING;
      case 'log-trimmed':
        return this.#isReading() ? this.#restore() : NOTHING;
      case 'log-broken':
        return this.#isReading() ? this.#quarantine(input.fault) : NOTHING;
      case 'replicas-answered':
        return this.#onAnswer({ replicas: input.replicas });
      case 'predecessor-stopped':
        return input.epoch === this.#assignment.epoch ? this.#onStoppedBefore(input.node) : NOTHING;
      case 'append-landed':
        return this.#onLanded(input.position);
      case 'append-overtaken':
        return this.#onOvertaken();
      case 'append-unknown':
        return this.#onUnknown(now - (input.forMs ?? 0));
      case 'store-failed':
        return this.#onStoreFailed();
      case 'rebuilt':
        return this.#onRebuilt();
      case 'stopped':
        return this.#onStopped();
      case 'lease':
        return this.#onLease(input.state);
      case 'tick':
        return this.#onTick(now);
      default:
        return assertNever(input);
    }
  }

  #onOpened(verdict: StoreVerdict | 'format', position: LogPosition): readonly LeadershipAction[] {
    if (this.#phase !== 'idle' && this.#phase !== 'quarantined') return NOTHING;
    this.#phase = 'idle';
    this.#fault = undefined;
    this.#isCaughtUp = false;
    if (verdict === 'trimmed') return this.#restore();
    if (verdict !== 'continues') return this.#quarantine(verdict);
    this.#isOpen = true;
    this.#position = position;
    this.#hear(position.epoch);
    return this.#begin();
  }

  /** Out of `idle`, with a store that is open. */
  #begin(): readonly LeadershipAction[] {
    if (!this.#isOpen || this.#assignment.role === 'none') return NOTHING;
    this.#phase = 'follower';
    const steps = this.#stand();
    return [{ kind: 'follow' }, ...(steps.length > 0 ? steps : [this.#readToEnd()])];
  }

  #onAssigned(assignment: Assignment): readonly LeadershipAction[] {
    const isSame = assignment.role === 'leader' && assignment.epoch === this.#assignment.epoch;
    this.#assignment = assignment;
    switch (this.#phase) {
      case 'idle':
        return this.#begin();
      case 'follower':
        return assignment.role === 'none' ? this.#leave() : this.#stand();
      case 'candidate':
        if (assignment.role === 'leader') {
          return isSame ? this.#onFewerBefore(assignment.predecessors) : this.#stand();
        }
        this.#phase = 'follower';
        return assignment.role === 'none' ? this.#leave() : NOTHING;
      case 'announcing':
      case 'rebuilding':
      case 'leader': {
        const isStillOurs = assignment.role === 'leader' && assignment.epoch === this.#announced;
        return isStillOurs ? NOTHING : this.#stop();
      }
      case 'stepping-down':
      case 'quarantined':
        return NOTHING;
      default:
        return assertNever(this.#phase);
    }
  }

  /** Becomes a candidate if the table wants it to lead, no later epoch is known, and it was not counted dead. */
  #stand(): readonly LeadershipAction[] {
    const { role, epoch } = this.#assignment;
    if (role !== 'leader' || epoch <= this.#knownEpoch || this.#lease === 'lost') {
      this.#phase = 'follower';
      return NOTHING;
    }
    this.#phase = 'candidate';
    this.#fault = undefined;
    this.#candidacy = CATCHING_UP;
    return [this.#readToEnd()];
  }

  #ask(now: number): readonly LeadershipAction[] {
    if (this.#assignment.role !== 'leader') return NOTHING;
    const { epoch, predecessors: running } = this.#assignment;
    this.#candidacy = { step: 'asking', since: now, running, replicas: undefined };
    const requests = running.map((node) => ({ kind: 'ask-to-stop', node, epoch }) as const);
    return [...requests, { kind: 'ask-replicas' }];
  }

  #onStoppedBefore(node: NodeId): readonly LeadershipAction[] {
    if (this.#candidacy.step !== 'asking') return NOTHING;
    return this.#onAnswer({ running: this.#candidacy.running.filter((id) => id !== node) });
  }

  /** Who was counted dead meanwhile is waited for no longer. */
  #onFewerBefore(predecessors: readonly NodeId[]): readonly LeadershipAction[] {
    if (this.#candidacy.step !== 'asking') return NOTHING;
    const running = this.#candidacy.running.filter((id) => predecessors.includes(id));
    return this.#onAnswer({ running });
  }

  #onAnswer(
    answer:
      { readonly running: readonly NodeId[] } | { readonly replicas: readonly ReplicaPosition[] },
  ): readonly LeadershipAction[] {
    if (this.#phase !== 'candidate' || this.#candidacy.step !== 'asking') return NOTHING;
    const asking = { ...this.#candidacy, ...answer };
    this.#candidacy = asking;
    if (asking.running.length > 0 || asking.replicas === undefined) return NOTHING;
    return this.#read(asking.replicas, false);
  }

  #read(replicas: readonly ReplicaPosition[], isSecondLook: boolean): readonly LeadershipAction[] {
    this.#phase = 'candidate';
    this.#candidacy = { step: 'reading', replicas, isSecondLook };
    return [this.#readToEnd()];
  }

  #readToEnd(): LeadershipAction {
    this.#reads += 1;
    return { kind: 'read-to-end', read: this.#reads };
  }

  #onRecords(position: LogPosition): readonly LeadershipAction[] {
    if (!this.#isReading() || position.sequence <= this.#position.sequence) return NOTHING;
    this.#position = position;
    this.#hear(position.epoch);
    return NOTHING;
  }

  #onEnd({ tail, clockSkewMs }: EndReached, now: number): readonly LeadershipAction[] {
    if (!this.#isReading()) return NOTHING;
    this.#onRecords(tail.end);
    this.#isCaughtUp = true;
    if (this.#phase !== 'candidate') return NOTHING;
    if (this.#assignment.epoch <= this.#knownEpoch) return this.#giveUp(undefined);
    if (Math.abs(clockSkewMs) > CLOCK_SKEW_MS_MAX) return this.#giveUp('clock');
    switch (this.#candidacy.step) {
      case 'catching-up':
        return this.#ask(now);
      case 'asking':
        return NOTHING;
      case 'reading':
        return this.#announceAfter(tail, this.#candidacy);
      default:
        return assertNever(this.#candidacy);
    }
  }

  #announceAfter(
    tail: LogTail,
    { replicas, isSecondLook }: Extract<Candidacy, { step: 'reading' }>,
  ): readonly LeadershipAction[] {
    if (lostTail(tail, replicas).length > 0) {
      return isSecondLook ? this.#quarantine('tail-lost') : this.#read(replicas, true);
    }
    this.#phase = 'announcing';
    this.#announced = this.#assignment.epoch;
    return [{ kind: 'announce', epoch: this.#announced, after: this.#position }];
  }

  /** The controller hears of it by the report, and finds an epoch beyond what the log knows, or another node. */
  #giveUp(fault: LeadershipFault | undefined): readonly LeadershipAction[] {
    this.#phase = 'follower';
    this.#fault = fault;
    return fault === undefined ? NOTHING : [{ kind: 'alarm', fault }];
  }

  #onLanded(position: LogPosition): readonly LeadershipAction[] {
    this.#hear(position.epoch);
    if (!OWNS_APPENDS.has(this.#phase) || position.epoch !== this.#announced) return NOTHING;
    this.#silentSince = undefined;
    this.#isStuck = false;
    this.#position = position;
    if (this.#phase !== 'announcing') return NOTHING;
    this.#phase = 'rebuilding';
    return [{ kind: 'rebuild' }];
  }

  #onOvertaken(): readonly LeadershipAction[] {
    this.#silentSince = undefined;
    this.#isStuck = false;
    switch (this.#phase) {
      case 'announcing':
        return this.#candidacy.step === 'reading'
          ? this.#read(this.#candidacy.replicas, false)
          : NOTHING;
      case 'rebuilding':
      case 'leader':
        return this.#stop();
      default:
        return NOTHING;
    }
  }

  #onUnknown(since: number): readonly LeadershipAction[] {
    if (!OWNS_APPENDS.has(this.#phase)) return NOTHING;
    this.#silentSince ??= since;
    return [{ kind: 'settle-append' }];
  }

  #onRebuilt(): readonly LeadershipAction[] {
    if (this.#phase !== 'rebuilding') return NOTHING;
    this.#phase = 'leader';
    return this.#lease === 'held'
      ? [{ kind: 'serve' }]
      : [{ kind: 'hold-attempts' }, { kind: 'serve' }];
  }

  #onLease(state: LeaseState): readonly LeadershipAction[] {
    const before = this.#lease;
    if (state === before) return NOTHING;
    this.#lease = state;
    if (state === 'lost') return this.#letGo();
    // While it was counted dead others may have been named, who did not ask it to stop: only a later epoch counts.
    if (before === 'lost') this.#hear(this.#assignment.epoch);
    if (this.#phase !== 'leader') return NOTHING;
    return [{ kind: state === 'held' ? 'resume-attempts' : 'hold-attempts' }];
  }

  #letGo(): readonly LeadershipAction[] {
    if (OWNS_APPENDS.has(this.#phase)) return this.#stop();
    if (this.#phase === 'candidate') this.#phase = 'follower';
    return NOTHING;
  }

  #onAskedToStop(epoch: bigint): readonly LeadershipAction[] {
    this.#hear(epoch - 1n);
    const isLater = epoch > this.#announced;
    return isLater && OWNS_APPENDS.has(this.#phase) ? this.#stop() : NOTHING;
  }

  /** Also when an announcement is on its way: should it land late, it is an epoch that nobody leads. */
  #stop(): readonly LeadershipAction[] {
    this.#phase = 'stepping-down';
    this.#hear(this.#announced);
    this.#silentSince = undefined;
    this.#isStuck = false;
    return [{ kind: 'stop' }];
  }

  #onStoreFailed(): readonly LeadershipAction[] {
    if (OWNS_APPENDS.has(this.#phase)) return this.#stop();
    return this.#isReading() ? this.#reopen() : NOTHING;
  }

  #onStopped(): readonly LeadershipAction[] {
    return this.#phase === 'stepping-down' ? this.#reopen() : NOTHING;
  }

  #reopen(): readonly LeadershipAction[] {
    this.#phase = 'idle';
    this.#isOpen = false;
    this.#isCaughtUp = false;
    return [{ kind: 'reopen' }];
  }

  #onTick(now: number): readonly LeadershipAction[] {
    if (this.#phase === 'candidate' && this.#candidacy.step === 'asking') {
      const isOver = now - this.#candidacy.since >= this.#options.handoverPatienceMs;
      return isOver ? this.#onAnswer({ running: [] }) : NOTHING;
    }
    if (this.#silentSince === undefined || this.#isStuck) return NOTHING;
    if (now - this.#silentSince < ACKNOWLEDGEMENT_SILENCE_MS_MAX) return NOTHING;
    this.#isStuck = true;
    return [{ kind: 'alarm', fault: 'no-acknowledgement' }];
  }

  #leave(): readonly LeadershipAction[] {
    this.#phase = 'idle';
    this.#isCaughtUp = false;
    return [{ kind: 'unfollow' }];
  }

  #restore(): readonly LeadershipAction[] {
    this.#phase = 'idle';
    this.#isOpen = false;
    this.#isCaughtUp = false;
    return [{ kind: 'restore' }];
  }

  #quarantine(fault: LeadershipFault): readonly LeadershipAction[] {
    this.#phase = 'quarantined';
    this.#isOpen = false;
    this.#isCaughtUp = false;
    this.#fault = fault;
    return [{ kind: 'unfollow' }, { kind: 'alarm', fault }];
  }

  #isReading(): boolean {
    return this.#phase === 'follower' || this.#phase === 'candidate';
  }

  #hear(epoch: bigint): void {
    if (epoch > this.#knownEpoch) this.#knownEpoch = epoch;
  }
}

const LEADING: ReadonlySet<PartitionPhase> = new Set([
  'announcing',
  'rebuilding',
  'leader',
  'stepping-down',
]);
const OWNS_APPENDS: ReadonlySet<PartitionPhase> = new Set(['announcing', 'rebuilding', 'leader']);
