/**
 * The heart of a partition leader: decide → commit → release (docs/ARCHITECTURE.md).
 *
 * Promises: commands are decided in the order in which they came; what a decision asks for leaves only after its record is
 * durable, in the order of the decisions; at most one record is in flight. It does not know what commands or actions mean.
 *
 * It leaves the event loop to others between slices of decisions and of releases: a crowd that is due at once blocks nobody.
 *
 * Invariant: actions in `#released` belong to the record in flight, or to the last one and are being performed; those in `#open`
 * belong to decisions after it.
 */

import { limits, type InvocationId, type PartitionId } from '@engine/domain';
import type { PartitionLog, RecordWriter } from '@engine/log';
import type { Clock, Scheduler } from '@engine/runtime';
import type { Action, Command, Outcome, PartitionContext } from '@engine/state-machine';
import type { PartitionState, StateReader } from '@engine/storage';
import type { EncodedMutations } from '@engine/wire';

import { CommandQueue, type CommandSink, type Fence, type Submission } from './command-queue.js';

/**
 * A record that nobody waits for stays open this long, in ms: what a handler sends next joins it. Two steps of a handler then cost
 * one synced write instead of two. What is lost with it in a crash, the handler sends again.
 */
export const COMMIT_DELAY_MS_MAX = 2;

/** Decisions in one turn of the event loop, about 15 µs each. */
const DECISIONS_PER_TURN_MAX = 512;

/** Actions performed in one turn of the event loop; the start of an attempt takes about 80 µs, most others a tenth of it. */
const RELEASES_PER_TURN_MAX = 128;

/** Sealing and checking a record from this size on take a turn of the event loop each: together about 2 ms per MiB. */
const LARGE_RECORD_BYTES_MIN = 4 * 1024 * 1024;

export type Decide = (state: StateReader, command: Command, context: PartitionContext) => Outcome;

export interface ProcessorOptions {
  readonly id: PartitionId;
  /** Of the payloads that wait to be decided; default: `limits.PARTITION_QUEUE_BYTES_MAX`. */
  readonly queueBytesMax?: number;
  /** What leaves, leaves with an append that was begun after its cause, an empty one if need be. Default: false. */
  readonly isShared?: boolean;
  /** Record times do not go below it, in ms since 1970. Default: 0. */
  readonly timeMin?: number;
  readonly partitionOf: (id: InvocationId) => PartitionId;
  readonly sha256: (bytes: Uint8Array) => Uint8Array;
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
  /** A slice of actions has been performed: what was gathered may go out. */
  readonly flush: () => void;
  /** The partition cannot go on: a commit failed or an invariant broke. Nothing is released any more. */
  readonly onFatal: (error: unknown) => void;
}

export class PartitionProcessor implements CommandSink {
  readonly #context: { -readonly [Key in keyof PartitionContext]: PartitionContext[Key] };
  readonly #dependencies: ProcessorDependencies;
  readonly #queue: CommandQueue;
  /** Notifications that were decided and whose push was not released, per invocation. */
  readonly #unreleased = new Map<InvocationId, number>();
  readonly #isShared: boolean;
  #recordTime: number;
  #open: (Action | Fence)[] = [];
  #openHasMutations = false;
  /** Somebody waits for an action or fence of the open record. */
  #openIsAwaited = false;
  #isHoldPlanned = false;
  #released: (Action | Fence)[] = [];
  /** How many of `#released` have been performed. */
  #releasedCount = 0;
  #isCommitting = false;
  #isReleasing = false;
  #isDrainPlanned = false;
  #isDead = false;

  constructor(options: ProcessorOptions, dependencies: ProcessorDependencies) {
    this.#dependencies = dependencies;
    this.#isShared = options.isShared ?? false;
    this.#recordTime = Math.max(options.timeMin ?? 0, dependencies.state.recordTime);
    this.#queue = new CommandQueue(options.queueBytesMax ?? limits.PARTITION_QUEUE_BYTES_MAX);
    this.#context = {
      self: options.id,
      partitionOf: options.partitionOf,
      sha256: options.sha256,
      incarnation: Number(dependencies.log.position.sequence) + 1,
    };
  }

  /** Takes a command from outside. False when too many or too large ones wait: nothing happened. */
  offer(command: Command): boolean {
    if (this.#isDead || !this.#queue.hasRoomFor(command)) return false;
    this.submit(command);
    return true;
  }

  submit(submission: Submission): void {
    if (this.#isDead) return;
    this.#queue.push(submission);
    this.#planDrain();
  }

  /** Number of journal entries at the end of an invocation's journal that are decided but not released. */
  unreleasedNotifications(id: InvocationId): number {
    return this.#unreleased.get(id) ?? 0;
  }

  /** True while nothing waits, nothing is open, nothing is in flight and all is released. */
  get isIdle(): boolean {
    const isOpenEmpty = this.#open.length === 0 && !this.#openHasMutations;
    const isBusy = this.#isCommitting || this.#isReleasing;
    return this.#queue.isEmpty && isOpenEmpty && !isBusy;
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
      if (!this.#isCommitting && !this.#isReleasing) this.#commitIfDue();
      const hasRoom = this.#dependencies.state.openSizeBytes < limits.RECORD_SIZE_BYTES_MAX;
      if (hasRoom && !this.#queue.isEmpty) this.#planDrain();
    } catch (error) {
      this.#die(error);
    }
  }

  /** Decides what waits into the open record, until the record is full or others should have their turn. */
  #decideWaiting(): void {
    const { state, decide, clock } = this.#dependencies;
    this.#recordTime = Math.max(this.#recordTime, clock.now());
    for (let count = 0; count < DECISIONS_PER_TURN_MAX; count += 1) {
      if (state.openSizeBytes >= limits.RECORD_SIZE_BYTES_MAX) return;
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
    const ridesOnRecord = this.#isShared && this.#openIsAwaited;
    if (!this.#openHasMutations && !ridesOnRecord) {
      // Nothing to make durable, and all that the decisions rest on is.
      this.#released = this.#takeOpen();
      this.#releaseSome();
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
    const isBusy = this.#isCommitting || this.#isReleasing;
    if (this.#isDead || isBusy || !this.#openHasMutations) return;
    try {
      this.#commit();
    } catch (error) {
      this.#die(error);
    }
  };

  #commit(): void {
    this.#released = this.#takeOpen();
    this.#openHasMutations = false;
    this.#isCommitting = true;
    const mutations = this.#dependencies.state.seal(this.#isShared ? this.#recordTime : undefined);
    // What is decided from now on goes into the record after this one.
    this.#context.incarnation += 1;
    if (mutations.bytes.length < LARGE_RECORD_BYTES_MIN) {
      this.#append(mutations);
      return;
    }
    this.#dependencies.scheduler.immediate(() => {
      if (this.#isDead) return;
      try {
        this.#append(mutations);
      } catch (error) {
        this.#die(error);
      }
    });
  }

  #append(mutations: EncodedMutations): void {
    const { log, records } = this.#dependencies;
    log.commit(records.next(mutations)).then(this.#onCommitted, this.#onCommitFailed);
  }

  readonly #onCommitted = (): void => {
    if (this.#isDead) return;
    this.#isCommitting = false;
    try {
      this.#dependencies.state.committed();
    } catch (error) {
      this.#die(error);
      return;
    }
    this.#releaseOn();
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

  readonly #releaseOn = (): void => {
    if (this.#isDead) return;
    try {
      if (!this.#releaseSome()) return;
    } catch (error) {
      this.#die(error);
      return;
    }
    this.#drain();
  };

  /** Performs a slice of the actions that are durable; the next one has its own turn. True when none is left. */
  #releaseSome(): boolean {
    const { perform, flush, scheduler } = this.#dependencies;
    const released = this.#released;
    const end = Math.min(this.#releasedCount + RELEASES_PER_TURN_MAX, released.length);
    for (let index = this.#releasedCount; index < end; index += 1) {
      const release = released[index];
      if (release === undefined) break;
      if (release.kind === 'Fence') {
        release.release();
        continue;
      }
      if (release.kind === 'PushNotification') this.#countPush(release.invocationId, -1);
      perform(release);
    }
    if (end > this.#releasedCount) flush();
    this.#isReleasing = end < released.length;
    this.#releasedCount = this.#isReleasing ? end : 0;
    if (this.#isReleasing) scheduler.immediate(this.#releaseOn);
    else this.#released = [];
    return !this.#isReleasing;
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
