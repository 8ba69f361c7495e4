/**
 * Runs one attempt: carries frames between the pure machine and the exchange with the deployment, and what the machine finds
 * to the partition. It owns the exchange and one deadline; the machine owns the rules.
 *
 * Phases: `starting` (nothing sent) → `running` → `draining` (reported its end; the response may still flow for a while) →
 * `over`. Only a running attempt submits commands.
 */

import type {
  AttemptFailure,
  AwaitTree,
  DeploymentId,
  Invocation,
  InvocationId,
  JournalEntry,
} from '@engine/domain';
import { Attempt, type AttemptInput, type AttemptOutput } from '@engine/attempt';
import type { Command, PushNotification } from '@engine/state-machine';
import { assertNever } from '@engine/stdx';

import { onAttemptFailed } from '../events.js';
import type { Fence } from '../partition/processor.js';
import { attemptRequest } from './attempt-request.js';
import type { AttemptRoom } from './attempt-room.js';
import { attemptStart, loadJournal, readJournal } from './attempt-start.js';
import { Backlog } from './backlog.js';
import { chooseDeployment, serverFailure, type Route } from './choose-deployment.js';
import type { Deadline } from './deadlines.js';
import type { Exchange, ExchangeListener } from './deployment-transport.js';
import { refusalFailure } from './refusal.js';
import { resolveCommand } from './resolve-command.js';

/** After its last word a deployment may take this long to end the response; then the exchange is reset. */
export const DRAIN_MS = 5_000;

/** Longer journals are read in the background: each point read may cost a disk access. */
const POINT_READS_MAX = 256;

type Received = Extract<AttemptOutput, { kind: 'command' }>;
type Failed = Extract<AttemptOutput, { kind: 'failed' }>;

/** Who gives the attempt its slot. */
export interface SlotOwner {
  /** The attempt no longer needs its slot: its end is durable, or there was nothing to do. Called at least once. */
  release(driver: AttemptDriver): void;
}

export class AttemptDriver implements ExchangeListener, Deadline, Fence {
  readonly kind = 'Fence';
  readonly invocationId: InvocationId;
  readonly attempt: number;
  readonly #room: AttemptRoom;
  readonly #owner: SlotOwner;
  #phase: 'starting' | 'running' | 'draining' | 'over' = 'starting';
  #row: Invocation | undefined;
  #route: Route | undefined;
  #machine: Attempt | undefined;
  #exchange: Exchange | undefined;
  #server: string | undefined;
  #awaitingOn: AwaitTree | undefined;
  /** Journal entries that went out with the start. */
  #replayed = 0;
  #isRequestOpen = true;
  #isResponseOver = false;
  readonly #backlog = new Backlog();

  constructor(
    identity: { readonly invocationId: InvocationId; readonly attempt: number },
    room: AttemptRoom,
    owner: SlotOwner,
  ) {
    this.invocationId = identity.invocationId;
    this.attempt = identity.attempt;
    this.#room = room;
    this.#owner = owner;
  }

  /** True while a request to the deployment is open that may still report. */
  get isInFlight(): boolean {
    return this.#phase === 'running';
  }

  get deploymentId(): DeploymentId | undefined {
    return this.#route?.pin.deploymentId;
  }

  /** What the deployment said of itself in the response head. */
  get server(): string | undefined {
    return this.#server;
  }

  /** What the handler last said that it awaits. */
  get awaitingOn(): AwaitTree | undefined {
    return this.#awaitingOn;
  }

  /** Starts the attempt, now or when all it is given is at hand and durable. */
  start(): void {
    const row = this.#room.state.invocation(this.invocationId);
    if (row === undefined) this.#stop();
    else if (row.journalLength > POINT_READS_MAX) this.#loadJournal(row.journalLength);
    else if (isReaderOfOthersState(row) && !this.#room.processor.isIdle) {
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
    if (this.#phase !== 'over') this.#exchange?.reset();
    this.#stop();
  }

  /** The report of the attempt's end is durable. */
  release(): void {
    this.#owner.release(this);
  }

  pushNotification(push: PushNotification): void {
    if (this.#phase !== 'running' || push.index < this.#replayed) return;
    if (this.#isRequestOpen) this.#touch();
    this.#step({ kind: 'notification-stored', index: push.index, entry: push.entry });
  }

  confirmCommand(commandIndex: number): void {
    if (this.#phase === 'running') this.#step({ kind: 'command-stored', commandIndex });
  }

  // Exchange listener.

  onHead(status: number, headers: Readonly<Record<string, string | undefined>>): void {
    if (this.#phase !== 'running') return;
    this.#server = headers['x-restate-server'];
    this.#touch();
    this.#step({
      kind: 'response-head',
      status,
      contentType: headers['content-type'],
      retryAfter: headers['retry-after'],
      now: this.#room.clock.now(),
    });
  }

  onData(chunk: Uint8Array): void {
    if (this.#phase !== 'running') return;
    this.#touch();
    this.#step({ kind: 'response-data', chunk });
  }

  onEnd(): void {
    this.#isResponseOver = true;
    if (this.#phase === 'running') this.#step({ kind: 'response-end' });
    else if (this.#phase === 'draining') this.#stop();
  }

  onError(message: string): void {
    this.#isResponseOver = true;
    if (this.#phase === 'running') this.#step({ kind: 'transport-error', message });
    else if (this.#phase === 'draining') this.#stop();
  }

  onDeadline(): void {
    if (this.#phase === 'draining') {
      this.#exchange?.reset();
      this.#stop();
    } else if (this.#phase === 'running') {
      const kind = this.#isRequestOpen ? 'inactivity-timeout' : 'abort-timeout';
      this.#touch();
      this.#step({ kind });
    }
  }

  // Start.

  #loadJournal(length: number): void {
    loadJournal(this.#room.scan, this.invocationId, length).then(
      (entries) => {
        this.#begin(entries);
      },
      (error: unknown) => {
        if (this.#phase !== 'starting') return;
        this.#phase = 'running';
        this.#fail(serverFailure('RT0006', `the journal cannot be read: ${String(error)}`));
      },
    );
  }

  /** `prefix`: entries that were read ahead. */
  #begin(prefix: readonly JournalEntry[]): void {
    if (this.#phase !== 'starting') return;
    const { state, processor, schema } = this.#room;
    const id = this.invocationId;
    const row = state.invocation(id);
    if (row?.status !== 'invoked' || row.attempt !== this.attempt) {
      // A newer decision is on its way to the invoker.
      this.#stop();
      return;
    }
    this.#row = row;
    this.#phase = 'running';
    const route = chooseDeployment(schema(), row);
    if (route.kind === 'no-route') {
      this.#fail(route.failure);
      return;
    }
    this.#route = route;
    // What is decided and not yet durable will be pushed when it is.
    const to = row.journalLength - processor.unreleasedNotifications(id);
    const tail = readJournal(state, id, { from: prefix.length, to });
    this.#open(row, route, prefix.length === 0 ? tail : [...prefix, ...tail]);
  }

  #open(row: Invocation, route: Route, journal: readonly JournalEntry[]): void {
    const { state, clock, options, transport } = this.#room;
    this.#replayed = journal.length;
    const given = { row, route, journal, state };
    const machine = new Attempt(
      attemptStart(this.invocationId, given, {
        eagerStateBytesMax: options.eagerStateBytesMax,
        messageSizeBytesMax: options.messageSizeBytesMax,
        now: clock.now(),
      }),
    );
    this.#machine = machine;
    const request = attemptRequest(this.invocationId, { row, route }, options.clusterName);
    this.#exchange = transport.open(request, this);
    this.#touch();
    this.#apply(machine.begin());
  }

  // Machine.

  #step(input: AttemptInput): void {
    if (this.#machine !== undefined) this.#apply(this.#machine.step(input));
  }

  #apply(outputs: readonly AttemptOutput[]): void {
    for (const output of outputs) {
      if (!this.#perform(output)) break;
    }
    if (this.#phase === 'draining') this.#drain();
  }

  /** False when nothing after this output counts. */
  #perform(output: AttemptOutput): boolean {
    switch (output.kind) {
      case 'write':
        this.#exchange?.write(output.bytes);
        return true;
      case 'close-request':
        this.#closeRequest();
        return true;
      case 'command':
        return this.#receive(output);
      case 'run-completion':
        this.#proposeRunCompletion(output);
        return true;
      case 'awaiting':
        this.#awaitingOn = output.awaitingOn;
        return true;
      case 'suspended': {
        const { awaitingOn, knownEntries } = output;
        const { invocationId, attempt } = this;
        const report = { kind: 'AttemptSuspended', at: 0, invocationId, attempt } as const;
        this.#report({ ...report, awaitingOn, knownEntries });
        return true;
      }
      case 'ended':
        this.#report({
          kind: 'AttemptEnded',
          at: 0,
          invocationId: this.invocationId,
          attempt: this.attempt,
        });
        return true;
      case 'failed':
        this.#reportFailure(output);
        return true;
      default:
        return assertNever(output);
    }
  }

  #receive(output: Received): boolean {
    const { command, commandIndex, ackRequested } = output;
    const { schema, hashes, calleeIds: ids, processor } = this.#room;
    const route = this.#route;
    const caller = this.#row?.target;
    if (route === undefined || caller === undefined) return false;
    const resolved = resolveCommand(command, { schema, hashes, ids, caller });
    if (resolved.kind === 'refused') {
      const failure = refusalFailure(resolved, command, commandIndex);
      this.#step({ kind: 'command-refused', failure });
      // The machine may have seen its end in the same chunk already; the refusal comes first.
      if (this.#phase === 'running') this.#fail(failure, true);
      return false;
    }
    const { entry } = resolved;
    processor.submit({
      kind: 'CommandReceived',
      at: 0,
      invocationId: this.invocationId,
      attempt: this.attempt,
      pin: route.pin,
      entry,
      ackRequested,
    });
    this.#countUndurable('raw' in entry ? entry.raw.length : 0);
    return true;
  }

  #proposeRunCompletion(output: Extract<AttemptOutput, { kind: 'run-completion' }>): void {
    if (this.#route === undefined) return;
    const { completionId, result } = output;
    this.#room.processor.submit({
      kind: 'RunCompletionProposed',
      at: 0,
      invocationId: this.invocationId,
      attempt: this.attempt,
      pin: this.#route.pin,
      completionId,
      result,
    });
    this.#countUndurable(result.kind === 'success' ? result.value.length : 0);
  }

  // End.

  #fail(failure: AttemptFailure, reachedHandler = false): void {
    this.#reportFailure({
      kind: 'failed',
      failure,
      behavior: 'retry',
      retryDelayMs: undefined,
      reachedHandler,
    });
    this.#drain();
  }

  #reportFailure(failed: Failed): void {
    const { options, random, schema } = this.#room;
    const target = this.#row?.target;
    const handler =
      this.#route?.handler ??
      (target === undefined ? undefined : schema().handler(target.service, target.handler));
    onAttemptFailed(this.invocationId, this.attempt, failed.failure);
    this.#report({
      kind: 'AttemptFailed',
      at: 0,
      invocationId: this.invocationId,
      attempt: this.attempt,
      failure: failed.failure,
      behavior: failed.behavior,
      retryDelayMs: failed.retryDelayMs,
      reachedHandler: failed.reachedHandler,
      policy: handler?.retryPolicy ?? options.retryPolicy,
      chance: random.float(),
    });
  }

  #report(command: Command): void {
    if (this.#phase !== 'running') return;
    this.#phase = 'draining';
    this.#room.processor.submit(command);
    this.#room.processor.submit(this);
  }

  #drain(): void {
    this.#closeRequest();
    if (this.#isResponseOver || this.#exchange === undefined) {
      this.#stop();
      return;
    }
    if (this.#backlog.isOver) this.#exchange.resume();
    this.#room.deadlines.set(this, DRAIN_MS);
  }

  #closeRequest(): void {
    if (!this.#isRequestOpen) return;
    this.#isRequestOpen = false;
    this.#exchange?.closeRequest();
    if (this.#phase === 'running') this.#touch();
  }

  /** Nothing is expected of the deployment any more. The slot stays taken until a report that is on its way is durable. */
  #stop(): void {
    const hasReported = this.#phase === 'draining';
    if (this.#phase === 'over') return;
    this.#phase = 'over';
    this.#room.deadlines.clear(this);
    this.#machine = undefined;
    if (!hasReported) this.#owner.release(this);
  }

  // Deadlines and back-pressure.

  /** A frame went or came: silence is counted from now. */
  #touch(): void {
    const { options, deadlines } = this.#room;
    const handler = this.#route?.handler;
    const delayMs = this.#isRequestOpen
      ? (handler?.inactivityTimeoutMs ?? options.inactivityTimeoutMs)
      : (handler?.abortTimeoutMs ?? options.abortTimeoutMs);
    deadlines.set(this, delayMs);
  }

  #countUndurable(bytes: number): void {
    if (!this.#backlog.add(bytes)) return;
    this.#exchange?.pause();
    this.#room.processor.submit({
      kind: 'Fence',
      release: () => {
        this.#backlog.clear();
        if (this.#phase === 'running') this.#exchange?.resume();
      },
    });
  }
}

/** Exclusive handlers and workflow runs are alone with what they read; shared handlers are not. */
function isReaderOfOthersState(row: Invocation): boolean {
  return row.target.kind === 'object-shared' || row.target.kind === 'workflow-shared';
}
