/**
 * One attempt as a deployment runs it: the journal is replayed against the handler's script, then the script goes on live. It
 * follows the rules that SDKs follow: notifications are taken one at a time in the order of the journal, output is flushed at
 * waits, a closed request means suspend at the next wait, a replay that differs fails with 570.
 */

import { flatWriter, futureWriter, openLeaves, resolveTree, type Tree } from './await-tree.js';
import {
  CODE,
  failureWriter,
  readNotification,
  valueWriter,
  type SdkFrame,
  type Settled,
} from './frames.js';
import {
  encodeJson,
  decodeJson,
  HandlerContext,
  RetryableError,
  TerminalError,
  type Handler,
  type Json,
  type JournalPort,
  type Wait,
} from './handler-context.js';
import { NotificationQueue } from './notification-queue.js';
import { ProtoMessage, ProtoWriter } from './proto.js';

/** What a deployment sees of the server that a rule forbids, and what it does that others may want to know. */
export interface HandlerObserver {
  started(start: { readonly invocationId: string; readonly knownEntries: number }): void;
  /** The server broke the protocol, or a replay differs from what ran live. */
  violation(text: string): void;
  /** A `run` closure executes. */
  runExecuted(invocationId: string, completionId: number, name: string): void;
  /** A sleep ended for the handler. */
  woke(invocationId: string, wakeUpTime: number): void;
  suspended(invocationId: string): void;
}

export interface MachineOptions {
  readonly version: number;
  readonly handler: Handler;
  readonly observer: HandlerObserver;
  /** Ms since the epoch. */
  readonly now: () => number;
  /** Runs `fn` after as long as a piece of user code takes. */
  readonly work: (fn: () => void) => void;
  readonly emit: (frames: readonly SdkFrame[]) => void;
  /** Nothing is emitted any more. */
  readonly finish: () => void;
}

class JournalMismatch extends Error {}

const CANCEL = 's1';

export class HandlerMachine implements JournalPort {
  readonly state = new Map<string, Uint8Array>();
  readonly #options: MachineOptions;
  readonly #out: SdkFrame[] = [];
  readonly #storedCommands: SdkFrame[] = [];
  readonly #notifications: NotificationQueue;
  readonly #runs = new Map<number, { readonly name: string; readonly closure: () => Json }>();
  readonly #proposed = new Map<number, Settled>();
  readonly #sleeps = new Map<string, number>();
  #trackedCalls: string[] = [];
  #start: ProtoMessage | undefined;
  #knownEntries = 0;
  #received = 0;
  #input: Json = null;
  #script: Generator<Tree, void, void> | undefined;
  #waiting: Tree | undefined;
  #nextCommand = 0;
  #commandIndex = 0;
  #lastCompletionId = 0;
  #lastAwakeable = 16;
  #executing = 0;
  #isRequestClosed = false;
  #isFinished = false;
  #lastAwaitingOn = '';

  constructor(options: MachineOptions) {
    this.#options = options;
    this.#notifications = new NotificationQueue((id) => {
      options.observer.violation(`${this.invocationId}: completion ${id} came twice`);
    });
  }

  get version(): number {
    return this.#options.version;
  }

  get isFinished(): boolean {
    return this.#isFinished;
  }

  get invocationId(): string {
    return this.#start?.text(2) ?? '';
  }

  get idBytes(): Uint8Array {
    return this.#start?.bytes(1) ?? new Uint8Array(24);
  }

  get key(): string {
    return this.#start?.text(6) ?? '';
  }

  get retryCount(): number {
    return this.#start?.number(7) ?? 0;
  }

  get randomSeed(): bigint {
    return this.#start?.uint(9) ?? 0n;
  }

  get isStateComplete(): boolean {
    return this.#start?.number(5) === 0;
  }

  // From the server.

  frame(frame: SdkFrame): void {
    if (this.#isFinished) return;
    if (this.#start === undefined) {
      this.#begin(frame);
    } else if (this.#received < this.#knownEntries) {
      this.#replay(frame);
    } else {
      this.#live(frame);
    }
  }

  requestClosed(): void {
    if (this.#isFinished || this.#isRequestClosed) return;
    this.#isRequestClosed = true;
    if (this.#start === undefined || this.#received < this.#knownEntries) {
      this.#breach('the request ended before the replay was complete');
      return;
    }
    this.#advance();
  }

  /** The connection is gone: the script is dropped where it stands. */
  abort(): void {
    this.#isFinished = true;
  }

  #begin(frame: SdkFrame): void {
    if (frame.type !== CODE.start) {
      this.#breach('the first frame is no start');
      return;
    }
    this.#start = new ProtoMessage(frame.payload);
    this.#knownEntries = this.#start.number(3);
    if (this.#knownEntries < 1) this.#breach('a start knows at least the input');
    for (const bytes of this.#start.all(4)) {
      const entry = new ProtoMessage(bytes);
      this.state.set(entry.text(1), entry.bytes(2));
    }
    this.#options.observer.started({
      invocationId: this.invocationId,
      knownEntries: this.#knownEntries,
    });
  }

  #replay(frame: SdkFrame): void {
    if (this.#received === 0) {
      if (frame.type !== CODE.input) this.#breach('the first entry is no input');
      this.#input = decodeJson(new ProtoMessage(frame.payload).message(14).bytes(1));
    } else if (frame.type >= 0x8000) {
      this.#take(frame);
    } else {
      this.#storedCommands.push(frame);
    }
    this.#received += 1;
    if (this.#received < this.#knownEntries || this.#isFinished) return;
    // User code does not start in the turn of the last frame.
    this.#options.work(() => {
      if (this.#isFinished) return;
      this.#script = this.#main();
      this.#step();
    });
  }

  #live(frame: SdkFrame): void {
    switch (frame.type) {
      case CODE.proposeRunCompletionAck: {
        const id = new ProtoMessage(frame.payload).number(1);
        const settled = this.#proposed.get(id);
        if (settled === undefined || this.version < 7) {
          this.#breach(`an acknowledgement of run ${String(id)}, which nobody proposed`);
          return;
        }
        this.#proposed.delete(id);
        this.#notifications.push({ id: `c${String(id)}`, settled });
        break;
      }
      default:
        if (frame.type < 0x8000) {
          this.#breach(`frame ${frame.type.toString(16)} after the replay`);
          return;
        }
        this.#take(frame);
    }
    this.#advance();
  }

  #take(frame: SdkFrame): void {
    const notification = readNotification(frame.payload);
    if (notification === undefined) this.#breach('a notification without id or result');
    else this.#notifications.push(notification);
  }

  #breach(text: string): void {
    this.#options.observer.violation(`${this.invocationId}: ${text}`);
    this.#end({ type: CODE.error, payload: errorWriter(571, text).finish() });
  }

  // For the context.

  now(): number {
    return this.#options.now();
  }

  nextCompletionId(): number {
    this.#lastCompletionId += 1;
    return this.#lastCompletionId;
  }

  nextAwakeableIndex(): number {
    this.#lastAwakeable += 1;
    return this.#lastAwakeable;
  }

  peek(): SdkFrame | undefined {
    return this.#storedCommands[this.#nextCommand];
  }

  command(type: number, payload: Uint8Array, isSame?: (stored: Uint8Array) => boolean): void {
    this.#commandIndex += 1;
    const stored = this.peek();
    if (stored === undefined) {
      this.#noteSleep(type, payload);
      this.#out.push({ type, payload });
      return;
    }
    this.#nextCommand += 1;
    const matches =
      stored.type === type &&
      (isSame?.(stored.payload) ?? Buffer.compare(stored.payload, payload) === 0);
    if (!matches) throw new JournalMismatch(`command ${String(this.#commandIndex)} differs`);
    this.#noteSleep(type, stored.payload);
  }

  takeNotification(id: string): Settled {
    const settled = this.#notifications.take(id);
    if (settled === undefined) throw new Error(`${id} is taken before it is there`);
    const wakeUpTime = this.#sleeps.get(id);
    if (wakeUpTime !== undefined) this.#options.observer.woke(this.invocationId, wakeUpTime);
    return settled;
  }

  registerRun(id: number, name: string, closure: () => Json): void {
    this.#runs.set(id, { name, closure });
  }

  trackCall(invocationIdCompletion: string): void {
    this.#trackedCalls.push(invocationIdCompletion);
  }

  *await(tree: Tree): Wait<void> {
    yield { kind: 'first', children: [tree, { kind: 'one', id: CANCEL }] };
    if (resolveTree(tree, this.#notifications.arrivalOf) !== 'pending') return;
    this.#notifications.take(CANCEL);
    const calls = this.#trackedCalls;
    this.#trackedCalls = [];
    for (const call of calls) {
      yield { kind: 'one', id: call };
      const settled = this.#notifications.peek(call);
      if (settled?.kind !== 'invocation-id') throw new Error(`${call} is no invocation id`);
      const payload = new ProtoWriter()
        .text(1, settled.id)
        .uint(2, 1)
        .message(4, new ProtoWriter());
      this.command(CODE.sendSignal, payload.finish());
    }
    throw new TerminalError(409, 'Cancelled');
  }

  #noteSleep(type: number, payload: Uint8Array): void {
    if (type !== CODE.sleep) return;
    const message = new ProtoMessage(payload);
    this.#sleeps.set(`c${String(message.number(11))}`, message.number(1));
  }

  // The script.

  *#main(): Generator<Tree, void, void> {
    const context = new HandlerContext(this);
    let writer: ProtoWriter;
    try {
      const result = yield* this.#options.handler(context, this.#input);
      writer = new ProtoWriter().message(14, valueWriter(encodeJson(result)));
    } catch (error) {
      if (!(error instanceof TerminalError)) throw error;
      writer = new ProtoWriter().message(15, failureWriter(error.failure, this.version));
    }
    this.command(CODE.output, writer.finish());
  }

  /** Notifications came: the script goes on if they are what it waits for. */
  #advance(): void {
    if (this.#script === undefined || this.#isFinished) return;
    if (this.#waiting !== undefined && !this.#notifications.resolve(this.#waiting)) {
      this.#rest(this.#waiting);
      return;
    }
    this.#step();
  }

  #step(): void {
    const script = this.#script;
    if (script === undefined) return;
    try {
      for (;;) {
        this.#waiting = undefined;
        const next = script.next();
        if (next.done === true) {
          this.#end({ type: CODE.end, payload: new Uint8Array(0) });
          return;
        }
        if (this.#notifications.resolve(next.value)) continue;
        this.#waiting = next.value;
        this.#rest(next.value);
        return;
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Nothing to do until something arrives: closures run now, and a closed request means suspension. */
  #rest(tree: Tree): void {
    for (const [id, run] of this.#runs) {
      this.#runs.delete(id);
      if (this.#notifications.has(`c${String(id)}`)) continue;
      this.#executing += 1;
      this.#options.work(() => {
        this.#execute(id, run);
      });
    }
    if (this.#executing === 0 && this.#isRequestClosed) {
      this.#suspend(tree);
      return;
    }
    this.#announce(tree);
    this.#flush();
  }

  #execute(id: number, run: { readonly name: string; readonly closure: () => Json }): void {
    this.#executing -= 1;
    if (this.#isFinished) return;
    this.#options.observer.runExecuted(this.invocationId, id, run.name);
    const proposal = new ProtoWriter().uint(1, id);
    try {
      const value = encodeJson(run.closure());
      proposal.bytes(14, value, true);
      this.#proposed.set(id, { kind: 'value', value });
    } catch (error) {
      if (!(error instanceof TerminalError)) {
        this.#fail(error);
        return;
      }
      proposal.message(15, failureWriter(error.failure, this.version));
      this.#proposed.set(id, { kind: 'failure', ...error.failure });
    }
    const payload = proposal.finish();
    this.#out.push({ type: CODE.proposeRunCompletion, payload, ackRequested: this.version >= 7 });
    this.#advance();
  }

  #suspend(tree: Tree): void {
    const payload =
      this.version >= 7
        ? new ProtoWriter().message(4, futureWriter(tree, this.#notifications.arrivalOf))
        : flatWriter(openLeaves(tree, this.#notifications.arrivalOf));
    this.#options.observer.suspended(this.invocationId);
    this.#end({ type: CODE.suspension, payload: payload.finish() });
  }

  /** Version 7 says what it waits for. */
  #announce(tree: Tree): void {
    if (this.version < 7 || this.#isRequestClosed) return;
    const text = openLeaves(tree, this.#notifications.arrivalOf).join();
    if (text === this.#lastAwaitingOn) return;
    this.#lastAwaitingOn = text;
    const payload = new ProtoWriter().message(1, futureWriter(tree, this.#notifications.arrivalOf));
    if (this.#executing > 0) payload.uint(2, 1);
    this.#out.push({ type: CODE.awaitingOn, payload: payload.finish() });
  }

  #fail(error: unknown): void {
    if (error instanceof JournalMismatch) {
      const text = `${this.invocationId}: the replay differs from what ran live: ${error.message}`;
      this.#options.observer.violation(text);
      this.#end({ type: CODE.error, payload: errorWriter(570, error.message).finish() });
      return;
    }
    if (!(error instanceof RetryableError)) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.#options.observer.violation(`${this.invocationId}: the handler threw ${text}`);
      this.#end({ type: CODE.error, payload: errorWriter(500, text).finish() });
      return;
    }
    const writer = errorWriter(500, error.message);
    if (error.delayMs !== undefined) writer.uint(8, error.delayMs, true);
    if (this.version >= 7) writer.uint(9, { retry: 0, pause: 1, fail: 2 }[error.behavior]);
    this.#end({ type: CODE.error, payload: writer.finish() });
  }

  #end(last: SdkFrame): void {
    if (this.#isFinished) return;
    this.#out.push(last);
    this.#flush();
    this.#isFinished = true;
    this.#options.finish();
  }

  #flush(): void {
    if (this.#out.length > 0 && !this.#isFinished) this.#options.emit(this.#out.splice(0));
  }
}

function errorWriter(code: number, message: string): ProtoWriter {
  return new ProtoWriter().uint(1, code).text(2, message);
}
