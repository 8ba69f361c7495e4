/**
 * The heart of a partition leader: decide → commit → release (docs/ARCHITECTURE.md).
 *
 * Promises: commands are decided in the order in which they came; what a decision asks for leaves only after its record is
 * durable, in the order of the decisions; at most one record is in flight. It does not know what commands or actions mean.
 *
 * Invariant: actions in `#released` belong to the record in flight, those in `#open` to decisions after it.
 */

import { limits, type InvocationId, type PartitionId } from '@engine/domain';
import type { PartitionLog, RecordWriter } from '@engine/log';
import type { Clock, Scheduler } from '@engine/runtime';
import type { Action, Command, Outcome, PartitionContext } from '@engine/state-machine';
import { assert, BoundedQueue } from '@engine/stdx';
import type { PartitionState, StateReader } from '@engine/storage';

/** Room in the queue beyond what the outside may fill, for attempts, timers and acknowledgements of the partition itself. */
const INTERNAL_COMMANDS_MAX = 4 * 1024 * 1024;

/**
 * A record that nobody waits for stays open this long, in ms: what a handler sends next joins it. Two steps of a handler then cost
 * one synced write instead of two. What is lost with it in a crash, the handler sends again.
 */
export const COMMIT_DELAY_MS_MAX = 2;

/** Something to do once everything that was submitted before it is durable and released. */
export interface Fence {
  readonly kind: 'Fence';
  release(): void;
}

export type Submission = Command | Fence;

/** Who takes the commands of the rooms around the processor. */
export interface CommandSink {
  /** Takes ownership of the command: `at` is written when it is decided. Never refuses: its callers have limits of their own. */
  submit(submission: Submission): void;
}

export type Decide = (state: StateReader, command: Command, context: PartitionContext) => Outcome;

export interface ProcessorOptions {
  readonly id: PartitionId;
  readonly partitionOf: (id: InvocationId) => PartitionId;
}

export interface ProcessorDependencies {
  readonly state: PartitionState;
  readonly log: PartitionLog;
  /** Numbers the records, from the position at which the log was opened. */
  readonly records: RecordWriter;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly decide: Decide;
  /** Performs one action whose record is durable. Must not throw for anything that comes from outside. */
  readonly perform: (action: Action) => void;
  /** The actions of a record have all been performed: what was gathered may go out. */
  readonly flush: () => void;
  /** The partition cannot go on: a commit failed or an invariant broke. Nothing is released any more. */
  readonly onFatal: (error: unknown) => void;
}

export class PartitionProcessor implements CommandSink {
  readonly #context: { -readonly [Key in keyof PartitionContext]: PartitionContext[Key] };
  readonly #dependencies: ProcessorDependencies;
  readonly #queue = new BoundedQueue<Submission>(
    limits.PARTITION_QUEUE_LENGTH_MAX + INTERNAL_COMMANDS_MAX,
  );
  /** Notifications that were decided and whose push was not released, per invocation. */
  readonly #unreleased = new Map<InvocationId, number>();
  #recordTime = 0;
  #open: (Action | Fence)[] = [];
  #openHasMutations = false;
  /** Somebody waits for an action or fence of the open record. */
  #openIsAwaited = false;
  #isHoldPlanned = false;
  #released: (Action | Fence)[] = [];
  #isCommitting = false;
  #isDrainPlanned = false;
  #isDead = false;

  constructor(options: ProcessorOptions, dependencies: ProcessorDependencies) {
    this.#dependencies = dependencies;
    this.#context = {
      self: options.id,
      partitionOf: options.partitionOf,
      incarnation: Number(dependencies.log.position.sequence) + 1,
    };
  }

  /** Takes a command from outside. False when too many wait: nothing happened. */
  offer(command: Command): boolean {
    if (this.#queue.length >= limits.PARTITION_QUEUE_LENGTH_MAX || this.#isDead) return false;
    this.submit(command);
    return true;
  }

  submit(submission: Submission): void {
    if (this.#isDead) return;
    assert(this.#queue.push(submission), 'the rooms of a partition keep their own limits');
    this.#planDrain();
  }

  /** Number of journal entries at the end of an invocation's journal that are decided but not released. */
  unreleasedNotifications(id: InvocationId): number {
    return this.#unreleased.get(id) ?? 0;
  }

  /** True while nothing waits, nothing is open and nothing is in flight. */
  get isIdle(): boolean {
    const isOpenEmpty = this.#open.length === 0 && !this.#openHasMutations;
    return this.#queue.isEmpty && isOpenEmpty && !this.#isCommitting;
  }

  /** Resolves when everything submitted so far is durable and released; at once when the processor is dead. */
  flushed(): Promise<void> {
    if (this.#isDead) return Promise.resolve();
    return new Promise((resolve) => {
      this.submit({ kind: 'Fence', release: resolve });
    });
  }

  /** Takes no more and releases nothing more, as after a crash. */
  kill(): void {
    this.#isDead = true;
    this.#queue.clear();
    this.#open = [];
    this.#released = [];
  }

  #planDrain(): void {
    if (this.#isDrainPlanned) return;
    this.#isDrainPlanned = true;
    this.#dependencies.scheduler.immediate(this.#drainPlanned);
  }

  readonly #drainPlanned = (): void => {
    this.#isDrainPlanned = false;
    this.#drain();
  };

  #drain(): void {
    if (this.#isDead) return;
    try {
      this.#decideWaiting();
      if (!this.#isCommitting) this.#commitIfDue();
    } catch (error) {
      this.#die(error);
    }
  }

  /** Decides what waits into the open record, until the record is full. */
  #decideWaiting(): void {
    const { state, decide, clock } = this.#dependencies;
    this.#recordTime = Math.max(this.#recordTime, clock.now());
    while (state.openSizeBytes < limits.RECORD_SIZE_BYTES_MAX) {
      const submission = this.#queue.shift();
      if (submission === undefined) return;
      if (submission.kind === 'Fence') {
        this.#open.push(submission);
        this.#openIsAwaited = true;
        continue;
      }
      stamp(submission, this.#recordTime);
      const outcome = decide(state, submission, this.#context);
      if (outcome.mutations.length > 0) {
        state.apply(outcome.mutations);
        this.#openHasMutations = true;
      }
      for (const action of outcome.actions) {
        if (action.kind === 'PushNotification') this.#countPush(action.invocationId, 1);
        this.#openIsAwaited ||= isAwaited(action);
        this.#open.push(action);
      }
    }
  }

  #commitIfDue(): void {
    if (!this.#openHasMutations) {
      // Nothing to make durable, and all that the decisions rest on is.
      this.#releaseAll(this.#takeOpen());
      return;
    }
    const isFull = this.#dependencies.state.openSizeBytes >= limits.RECORD_SIZE_BYTES_MAX;
    if (this.#openIsAwaited || isFull) this.#commit();
    else this.#holdOpen();
  }

  #holdOpen(): void {
    if (this.#isHoldPlanned) return;
    this.#isHoldPlanned = true;
    this.#dependencies.scheduler.after(COMMIT_DELAY_MS_MAX, this.#onHeld);
  }

  readonly #onHeld = (): void => {
    this.#isHoldPlanned = false;
    if (this.#isDead || this.#isCommitting || !this.#openHasMutations) return;
    try {
      this.#commit();
    } catch (error) {
      this.#die(error);
    }
  };

  #commit(): void {
    const { state, log, records } = this.#dependencies;
    this.#released = this.#takeOpen();
    this.#openHasMutations = false;
    this.#isCommitting = true;
    const record = records.next(state.seal());
    this.#context.incarnation = Number(record.sequence) + 1;
    log.commit(record).then(this.#onCommitted, this.#onCommitFailed);
  }

  readonly #onCommitted = (): void => {
    if (this.#isDead) return;
    this.#isCommitting = false;
    const released = this.#released;
    this.#released = [];
    try {
      this.#dependencies.state.committed();
      this.#releaseAll(released);
    } catch (error) {
      this.#die(error);
      return;
    }
    this.#drain();
  };

  readonly #onCommitFailed = (error: unknown): void => {
    this.#die(error);
  };

  #takeOpen(): (Action | Fence)[] {
    const open = this.#open;
    this.#open = [];
    this.#openIsAwaited = false;
    return open;
  }

  #releaseAll(releases: readonly (Action | Fence)[]): void {
    if (releases.length === 0) return;
    const { perform, flush } = this.#dependencies;
    for (const release of releases) {
      if (release.kind === 'Fence') {
        release.release();
        continue;
      }
      if (release.kind === 'PushNotification') this.#countPush(release.invocationId, -1);
      perform(release);
    }
    flush();
  }

  #countPush(id: InvocationId, by: 1 | -1): void {
    const count = (this.#unreleased.get(id) ?? 0) + by;
    if (count === 0) this.#unreleased.delete(id);
    else this.#unreleased.set(id, count);
  }

  #die(error: unknown): void {
    if (this.#isDead) return;
    this.kill();
    this.#dependencies.onFatal(error);
  }
}

/** False for actions that nobody outside sees: their record may wait a little for company. */
function isAwaited(action: Action): boolean {
  switch (action.kind) {
    case 'ConfirmCommand':
      return action.ackRequested;
    case 'CancelTimer':
      return false;
    default:
      return true;
  }
}

/** Whoever submitted the command gave it away; the time of its record is the one thing it could not know. */
function stamp(command: { at: number }, at: number): void {
  command.at = at;
}
