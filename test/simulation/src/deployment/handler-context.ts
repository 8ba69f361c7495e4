/**
 * What a scripted handler may do. Handlers are generators: `yield*` waits. The context turns each wish into a command, and on a
 * replay checks it against the stored one, as SDKs do.
 */

import type { Tree } from './await-tree.js';
import { CODE, failureWriter, valueWriter, type SdkFailure, type Settled } from './frames.js';
import { ProtoMessage, ProtoWriter } from './proto.js';

export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A generator that waits on trees. */
export type Wait<T> = Generator<Tree, T, void>;

export type Handler = (ctx: HandlerContext, input: Json) => Wait<Json>;

/** Ends the invocation, or an await in it, for good. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
  readonly failure: SdkFailure;

  constructor(code: number, message: string, metadata: Readonly<Record<string, string>> = {}) {
    super(message);
    this.failure = { code, message, metadata };
  }
}

/** Fails the attempt: the server tries again. */
export class RetryableError extends Error {
  override readonly name = 'RetryableError';
  readonly delayMs: number | undefined;
  readonly behavior: 'retry' | 'pause' | 'fail';

  constructor(
    message: string,
    options: { readonly delayMs?: number; readonly behavior?: 'retry' | 'pause' | 'fail' } = {},
  ) {
    super(message);
    this.delayMs = options.delayMs;
    this.behavior = options.behavior ?? 'retry';
  }
}

/** The machinery under a context: commands, notifications, awaits. */
export interface JournalPort {
  readonly version: number;
  readonly invocationId: string;
  readonly idBytes: Uint8Array;
  readonly key: string;
  readonly randomSeed: bigint;
  /** Ms since the epoch, by the clock of the deployment. */
  now(): number;
  nextCompletionId(): number;
  nextAwakeableIndex(): number;
  /** Type and bytes of the stored command that the next command will be checked against; undefined when live. */
  peek(): { readonly type: number; readonly payload: Uint8Array } | undefined;
  /** `isSame` compares the stored bytes with the new ones; default is equality. */
  command(type: number, payload: Uint8Array, isSame?: (stored: Uint8Array) => boolean): void;
  takeNotification(id: string): Settled;
  registerRun(id: number, name: string, closure: () => Json): void;
  trackCall(invocationIdCompletion: string): void;
  /** Waits; throws a cancellation. */
  await(tree: Tree): Wait<void>;
  /** State that came with the start; undefined = ask the server. */
  readonly state: Map<string, Uint8Array>;
  readonly isStateComplete: boolean;
}

/** A value that arrives with a notification. */
export interface Future<T> {
  readonly id: string;
  readonly tree: Tree;
  readonly read: (settled: Settled) => T;
}

export interface Callee {
  readonly service: string;
  readonly handler: string;
  readonly key?: string;
  readonly idempotencyKey?: string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function encodeJson(value: Json): Uint8Array {
  return encoder.encode(JSON.stringify(value));
}

export function decodeJson(bytes: Uint8Array): Json {
  return bytes.length === 0 ? null : (JSON.parse(decoder.decode(bytes)) as Json);
}

export class HandlerContext {
  readonly #journal: JournalPort;

  constructor(journal: JournalPort) {
    this.#journal = journal;
  }

  get invocationId(): string {
    return this.#journal.invocationId;
  }

  get key(): string {
    return this.#journal.key;
  }

  now(): number {
    return this.#journal.now();
  }

  /** Chance that is the same in every attempt. */
  randomText(): string {
    return String(this.#journal.randomSeed % 1_000n);
  }

  /** Waits for one value. Throws what the notification failed with, or a cancellation. */
  *wait<T>(future: Future<T>): Wait<T> {
    yield* this.#journal.await(future.tree);
    return future.read(this.#journal.takeNotification(future.id));
  }

  /** Waits until a tree is resolved; the values are then taken with `wait`. */
  *until(kind: Exclude<Tree['kind'], 'one'>, futures: readonly Future<unknown>[]): Wait<void> {
    yield* this.#journal.await({ kind, children: futures.map((future) => future.tree) });
  }

  run(name: string, closure: () => Json): Future<Json> {
    const id = this.#journal.nextCompletionId();
    const payload = new ProtoWriter().uint(11, id).text(12, name).finish();
    this.#journal.command(CODE.run, payload);
    this.#journal.registerRun(id, name, closure);
    return future(`c${String(id)}`, readJson);
  }

  sleep(ms: number): Future<Json> {
    const id = this.#journal.nextCompletionId();
    const wakeUpTime = this.now() + ms;
    const payload = new ProtoWriter().uint(1, wakeUpTime).uint(11, id).finish();
    this.#journal.command(CODE.sleep, payload, () => true);
    return future(`c${String(id)}`, readJson);
  }

  call(
    callee: Callee,
    input: Json,
  ): { readonly id: Future<string>; readonly result: Future<Json> } {
    const idCompletion = this.#journal.nextCompletionId();
    const resultCompletion = this.#journal.nextCompletionId();
    const payload = calleeWriter(callee, input, { isOneWay: false, invokeTime: 0 })
      .uint(10, idCompletion)
      .uint(11, resultCompletion)
      .finish();
    this.#journal.command(CODE.call, payload);
    this.#journal.trackCall(`c${String(idCompletion)}`);
    return {
      id: future(`c${String(idCompletion)}`, readId),
      result: future(`c${String(resultCompletion)}`, readJson),
    };
  }

  send(callee: Callee, input: Json, delayMs = 0): Future<string> {
    const id = this.#journal.nextCompletionId();
    const invokeTime = delayMs === 0 ? 0 : this.now() + delayMs;
    const payload = calleeWriter(callee, input, { isOneWay: true, invokeTime })
      .uint(10, id)
      .finish();
    this.#journal.command(CODE.oneWayCall, payload, (stored) => isSameSend(stored, payload));
    return future(`c${String(id)}`, readId);
  }

  awakeable(): { readonly id: string; readonly result: Future<Json> } {
    const index = this.#journal.nextAwakeableIndex();
    const bytes = new Uint8Array(28);
    bytes.set(this.#journal.idBytes);
    new DataView(bytes.buffer).setUint32(24, index);
    const id = `sign_1${Buffer.from(bytes).toString('base64url')}`;
    return { id, result: future(`s${String(index)}`, readJson) };
  }

  signal(name: string): Future<Json> {
    return future(`n${name}`, readJson);
  }

  completeAwakeable(id: string, value: Json | TerminalError): void {
    const writer = new ProtoWriter().text(1, id);
    if (value instanceof TerminalError) {
      writer.message(3, failureWriter(value.failure, this.#journal.version));
    } else writer.message(2, valueWriter(encodeJson(value)));
    this.#journal.command(CODE.completeAwakeable, writer.finish());
  }

  sendSignal(target: string, name: string, value: Json): void {
    const payload = new ProtoWriter()
      .text(1, target)
      .text(3, name, true)
      .message(5, valueWriter(encodeJson(value)))
      .finish();
    this.#journal.command(CODE.sendSignal, payload);
  }

  cancel(target: string): void {
    const payload = new ProtoWriter()
      .text(1, target)
      .uint(2, 1, true)
      .message(4, new ProtoWriter());
    this.#journal.command(CODE.sendSignal, payload.finish());
  }

  *get(name: string): Wait<Json> {
    const value = yield* this.#getBytes(name);
    return value === undefined ? null : decodeJson(value);
  }

  set(name: string, value: Json): void {
    const bytes = encodeJson(value);
    const payload = new ProtoWriter().text(1, name).message(3, valueWriter(bytes)).finish();
    this.#journal.command(CODE.setState, payload);
    this.#journal.state.set(name, bytes);
  }

  clear(name: string): void {
    this.#journal.command(CODE.clearState, new ProtoWriter().text(1, name).finish());
    this.#journal.state.delete(name);
  }

  *stateKeys(): Wait<readonly string[]> {
    const journal = this.#journal;
    const id = journal.nextCompletionId();
    const stored = journal.peek();
    const isEager =
      stored === undefined ? journal.isStateComplete : stored.type === CODE.getEagerStateKeys;
    if (!isEager) {
      journal.command(CODE.getLazyStateKeys, new ProtoWriter().uint(11, id).finish());
      return yield* this.wait(future(`c${String(id)}`, readKeys));
    }
    const keys = [...journal.state.keys()].sort();
    const list = new ProtoWriter();
    for (const key of keys) list.text(1, key, true);
    let found: readonly string[] = keys;
    const payload = new ProtoWriter().message(14, list).finish();
    journal.command(CODE.getEagerStateKeys, payload, (bytes) => {
      found = new ProtoMessage(bytes)
        .message(14)
        .all(1)
        .map((key) => decoder.decode(key));
      return true;
    });
    return found;
  }

  promise(name: string): Future<Json> {
    const id = this.#journal.nextCompletionId();
    this.#journal.command(CODE.getPromise, new ProtoWriter().text(1, name).uint(11, id).finish());
    return future(`c${String(id)}`, readJson);
  }

  peekPromise(name: string): Future<Json> {
    const id = this.#journal.nextCompletionId();
    this.#journal.command(CODE.peekPromise, new ProtoWriter().text(1, name).uint(11, id).finish());
    return future(`c${String(id)}`, readJson);
  }

  completePromise(name: string, value: Json): Future<Json> {
    const id = this.#journal.nextCompletionId();
    const payload = new ProtoWriter().text(1, name).message(2, valueWriter(encodeJson(value)));
    this.#journal.command(CODE.completePromise, payload.uint(11, id).finish());
    return future(`c${String(id)}`, readJson);
  }

  attach(target: string): Future<Json> {
    const id = this.#journal.nextCompletionId();
    const payload = new ProtoWriter().text(1, target, true).uint(11, id).finish();
    this.#journal.command(CODE.attachInvocation, payload);
    return future(`c${String(id)}`, readJson);
  }

  output(target: string): Future<Json> {
    const id = this.#journal.nextCompletionId();
    const payload = new ProtoWriter().text(1, target, true).uint(11, id).finish();
    this.#journal.command(CODE.getInvocationOutput, payload);
    return future(`c${String(id)}`, readJson);
  }

  /** Asks the server when the start did not bring the value; on a replay as the stored command did. */
  *#getBytes(name: string): Wait<Uint8Array | undefined> {
    const journal = this.#journal;
    const id = journal.nextCompletionId();
    const stored = journal.peek();
    const isEager =
      stored === undefined
        ? journal.isStateComplete || journal.state.has(name)
        : stored.type === CODE.getEagerState;
    if (!isEager) {
      journal.command(CODE.getLazyState, new ProtoWriter().text(1, name).uint(11, id).finish());
      return yield* this.wait(future(`c${String(id)}`, readBytes));
    }
    let value = journal.state.get(name);
    const writer = new ProtoWriter().text(1, name);
    if (value === undefined) writer.message(13, new ProtoWriter());
    else writer.message(14, valueWriter(value));
    journal.command(CODE.getEagerState, writer.finish(), (bytes) => {
      const message = new ProtoMessage(bytes);
      value = message.has(14) ? message.message(14).bytes(1) : undefined;
      return message.text(1) === name;
    });
    return value;
  }
}

function future<T>(id: string, read: (settled: Settled) => T): Future<T> {
  return { id, tree: { kind: 'one', id }, read };
}

function readJson(settled: Settled): Json {
  const bytes = readBytes(settled);
  return bytes === undefined ? null : decodeJson(bytes);
}

function readBytes(settled: Settled): Uint8Array | undefined {
  switch (settled.kind) {
    case 'value':
      return settled.value;
    case 'void':
      return undefined;
    case 'failure':
      throw new TerminalError(settled.code, settled.message, settled.metadata);
    case 'invocation-id':
    case 'state-keys':
      throw new Error(`a notification says ${settled.kind} where a value belongs`);
  }
}

function readId(settled: Settled): string {
  if (settled.kind === 'invocation-id') return settled.id;
  throw new Error(`a notification says ${settled.kind} where an id belongs`);
}

function readKeys(settled: Settled): readonly string[] {
  if (settled.kind === 'state-keys') return settled.keys;
  throw new Error(`a notification says ${settled.kind} where keys belong`);
}

/** Calls and one-way calls number their fields differently. */
function calleeWriter(
  callee: Callee,
  input: Json,
  form: { readonly isOneWay: boolean; readonly invokeTime: number },
): ProtoWriter {
  const writer = new ProtoWriter()
    .text(1, callee.service)
    .text(2, callee.handler)
    .bytes(3, encodeJson(input));
  if (form.isOneWay) writer.uint(4, form.invokeTime);
  const keyField = form.isOneWay ? 6 : 5;
  writer.message(keyField - 1, new ProtoWriter().text(1, 'x-simulated').text(2, callee.handler));
  if (callee.key !== undefined) writer.text(keyField, callee.key);
  if (callee.idempotencyKey !== undefined) writer.text(keyField + 1, callee.idempotencyKey, true);
  return writer;
}

/** Everything but the time of the start, which is computed anew on each replay. */
function isSameSend(stored: Uint8Array, fresh: Uint8Array): boolean {
  const [a, b] = [new ProtoMessage(stored), new ProtoMessage(fresh)];
  return [1, 2, 3, 5, 6, 7, 12].every(
    (field) => Buffer.compare(Buffer.from(a.bytes(field)), Buffer.from(b.bytes(field))) === 0,
  );
}
