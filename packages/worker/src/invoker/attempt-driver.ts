/**
 * Runs one attempt: carries frames between the pure machine and the conversation with the deployment, and what the machine
 * finds to the partition. The machine owns the rules, the conversation owns exchange and deadline.
 *
 * Phases: `starting` (nothing sent) → `running` → `over` (it reported its end, or was dropped). Only a running attempt submits
 * commands.
 */

import type {
  AttemptFailure,
  DeploymentId,
  Invocation,
  InvocationId,
  JournalEntry,
} from '@engine/domain';
import { Attempt, type AttemptInput, type AttemptOutput } from '@engine/attempt';
import type { Command, PushNotification } from '@engine/state-machine';
import { assertNever } from '@engine/stdx';

import { onAttemptFailed } from '../events.js';
import { payloadBytesOfCommand } from '../partition/command-bytes.js';
import type { Fence } from '../partition/command-queue.js';
import {
  attemptEnded,
  attemptFailed,
  attemptSuspended,
  commandReceived,
  runCompletionProposed,
  type AttemptIdentity,
} from './attempt-reports.js';
import { attemptRequest } from './attempt-request.js';
import type { AttemptRoom } from './attempt-room.js';
import { loadJournal, POINT_READS_MAX } from './attempt-start.js';
import type { AttemptWatch, Awaited } from './attempt-watch.js';
import { retryPolicy, type Route } from './choose-deployment.js';
import { Conversation, type Speaker } from './conversation.js';
import {
  prepareAttempt,
  readsStateOfOthers,
  unreadable,
  type PreparedAttempt,
} from './prepare-attempt.js';
import { refusalFailure } from './refusal.js';
import { resolveCommand } from './resolve-command.js';

type Received = Extract<AttemptOutput, { kind: 'command' }>;
type Failed = Extract<AttemptOutput, { kind: 'failed' }>;

/** Who gives the attempt its slot. */
export interface SlotOwner {
  /** The attempt no longer needs its slot: its end is durable, or there was nothing to do. Called at least once. */
  release(driver: AttemptDriver): void;
}

export class AttemptDriver implements Speaker, Fence {
  readonly kind = 'Fence';
  readonly invocationId: InvocationId;
  readonly attempt: number;
  readonly #room: AttemptRoom;
  readonly #owner: SlotOwner;
  readonly #conversation: Conversation;
  #phase: 'starting' | 'running' | 'over' = 'starting';
  #row: Invocation | undefined;
  #route: Route | undefined;
  #machine: Attempt | undefined;
  /** Journal entries that went out with the start. */
  #replayed = 0;

  constructor({ invocationId, attempt }: AttemptIdentity, room: AttemptRoom, owner: SlotOwner) {
    this.invocationId = invocationId;
    this.attempt = attempt;
    this.#room = room;
    this.#owner = owner;
    this.#conversation = new Conversation(invocationId, room, this);
  }

  /** True while a request to the deployment is open that may still report. */
  get isInFlight(): boolean {
    return this.#phase === 'running';
  }

  get deploymentId(): DeploymentId | undefined {
    return this.#route?.pin.deploymentId;
  }

  /** What was heard of the deployment. */
  get watch(): AttemptWatch {
    return this.#conversation.watch;
  }

  /** True while its start, or the message that comes, waits for memory. */
  get isWaitingForMemory(): boolean {
    return this.#conversation.flow.isWaitingForMemory;
  }

  /** What the attempt waits for. */
  awaited(): Awaited {
    if (this.isWaitingForMemory) {
      return { on: 'memory for its payloads', since: this.watch.lastHeardAt };
    }
    return this.watch.awaited(this.#room.state, this.#row?.lastAttemptAt);
  }

  /** Starts the attempt, now or when all it is given is at hand and durable. */
  start(): void {
    const row = this.#room.state.invocation(this.invocationId);
    if (row === undefined) this.#leave();
    else if (row.journalLength > POINT_READS_MAX) this.#loadJournal(row.journalLength);
    else if (readsStateOfOthers(row) && !this.#room.processor.isIdle) {
      // Somebody else may have written what this attempt will read: it must be durable first.
      this.#room.processor.submit({
        kind: 'Fence',
        release: () => {
          this.#begin([]);
        },
      });
    } else this.#begin([]);
  }

  /** Drops the attempt: nothing it still sends counts. */
  abort(): void {
    this.#conversation.reset();
    if (this.#phase !== 'over') this.#leave();
  }

  /** The report of the attempt's end is durable. */
  release(): void {
    this.#owner.release(this);
  }

  pushNotification(push: PushNotification): void {
    if (this.#phase !== 'running' || push.index < this.#replayed) return;
    this.#conversation.answered();
    this.hear({ kind: 'notification-stored', index: push.index, entry: push.entry });
  }

  confirmCommand(commandIndex: number): void {
    if (this.#phase === 'running') this.hear({ kind: 'command-stored', commandIndex });
  }

  // Start.

  #loadJournal(length: number): void {
    loadJournal(this.#room.scan, this.invocationId, length).then(
      (entries) => {
        this.#begin(entries);
      },
      (error: unknown) => {
        if (this.#phase === 'starting') this.#failStart(unreadable(error), false);
      },
    );
  }

  onStartRoom(): void {
    if (this.#phase === 'starting') this.start();
  }

  /** `prefix`: entries that were read ahead. */
  #begin(prefix: readonly JournalEntry[]): void {
    if (this.#phase !== 'starting') return;
    const prepared = prepareAttempt(this, this.#room, prefix);
    if (prepared.kind === 'outdated') {
      this.#leave();
      return;
    }
    this.#row = prepared.row;
    this.#route = prepared.route;
    if (prepared.kind === 'failed') this.#failStart(prepared.failure, prepared.isFinal);
    else if (this.#conversation.flow.holdStart(prepared.payloadBytes))
      this.#openIfAllowed(prepared);
    // Else it begins again when there is memory for what it replays.
  }

  /** It may have waited for long: for its journal, for memory, for the process to be thawed. */
  #openIfAllowed(prepared: PreparedAttempt): void {
    const mayBegin = this.#room.mayBegin();
    // Whoever was asked may have dropped this attempt with all others.
    if (this.#phase !== 'starting') return;
    if (mayBegin) this.#open(prepared);
    else this.#leave();
  }

  #open({ row, route, start }: PreparedAttempt): void {
    const { options } = this.#room;
    this.#phase = 'running';
    this.#replayed = start.journal.length;
    this.watch.replayed(start.journal);
    const machine = new Attempt(start);
    this.#machine = machine;
    const request = attemptRequest(this.invocationId, { row, route }, options.clusterName);
    this.#conversation.begin(request, route.handler ?? options);
    this.#apply(machine.begin());
  }

  // Machine.

  get expectedBytes(): number {
    return this.#machine?.expectedBytes ?? 0;
  }

  hear(input: AttemptInput): void {
    if (this.#machine !== undefined) this.#apply(this.#machine.step(input));
  }

  #apply(outputs: readonly AttemptOutput[]): void {
    for (const output of outputs) {
      if (!this.#perform(output)) return;
    }
  }

  /** False when nothing after this output counts. */
  #perform(output: AttemptOutput): boolean {
    switch (output.kind) {
      case 'write':
        this.#conversation.write(output.bytes);
        return true;
      case 'close-request':
        this.#conversation.closeRequest();
        return true;
      case 'command':
        return this.#receive(output);
      case 'run-completion':
        if (this.#route === undefined) return false;
        this.#submit(runCompletionProposed(this, this.#route.pin, output));
        return true;
      case 'awaiting':
        this.watch.awaits(output.awaitingOn, this.#room.clock.now());
        return true;
      case 'suspended':
        this.#report(attemptSuspended(this, output));
        return true;
      case 'ended':
        this.#report(attemptEnded(this));
        return true;
      case 'failed':
        this.#reportFailure(output);
        return true;
      default:
        return assertNever(output);
    }
  }

  #receive({ command, commandIndex, ackRequested }: Received): boolean {
    const { schema, hashes, calleeIds: ids } = this.#room;
    const route = this.#route;
    const caller = this.#row?.target;
    if (route === undefined || caller === undefined) return false;
    const resolved = resolveCommand(command, { schema, hashes, ids, caller });
    if (resolved.kind === 'refused') {
      const failure = refusalFailure(resolved, command, commandIndex);
      this.hear({ kind: 'command-refused', failure });
      // The machine may have seen its end in the same chunk already; the refusal comes first.
      this.#reportFailure(failedWith(failure, true));
      return false;
    }
    this.watch.commandReceived(command);
    this.#submit(commandReceived(this, route.pin, { entry: resolved.entry, ackRequested }));
    return true;
  }

  #submit(command: Command): void {
    this.#room.processor.submit(command);
    this.#conversation.flow.submitted(payloadBytesOfCommand(command));
  }

  // End.

  /** `isFinal`: another attempt meets it again, so the invocation is paused, or ends if its policy says so. */
  #failStart(failure: AttemptFailure, isFinal: boolean): void {
    this.#phase = 'running';
    const { onMaxAttempts } = retryPolicy(this.#room, this.#row, this.#route);
    const final = onMaxAttempts === 'kill' ? 'fail' : 'pause';
    this.#reportFailure({ ...failedWith(failure, false), behavior: isFinal ? final : 'retry' });
  }

  #reportFailure(failed: Failed): void {
    if (this.#phase !== 'running') return;
    onAttemptFailed(this.invocationId, this.attempt, failed.failure);
    const policy = retryPolicy(this.#room, this.#row, this.#route);
    const chance = this.#room.random.float();
    this.#report(attemptFailed(this, failed, { policy, chance }));
  }

  /** The slot stays taken until the report is durable. */
  #report(command: Command): void {
    this.#over();
    this.#room.processor.submit(command);
    this.#room.processor.submit(this);
    this.#conversation.drain();
  }

  /** There is nothing to report. */
  #leave(): void {
    this.#over();
    this.#conversation.end();
    this.#owner.release(this);
  }

  #over(): void {
    this.#phase = 'over';
    this.#machine = undefined;
  }

  onStuck(): void {
    this.#room.silences.report(this, this.awaited());
  }
}

function failedWith(failure: AttemptFailure, reachedHandler: boolean): Failed {
  return { kind: 'failed', failure, behavior: 'retry', retryDelayMs: undefined, reachedHandler };
}
