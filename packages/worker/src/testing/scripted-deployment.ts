/** A deployment in memory: each handler is a function that is given the stream of one attempt. */

import type { Scheduler } from '@engine/runtime';
import {
  FrameDecoder,
  MESSAGE_TYPE,
  NOTIFICATION_CODE,
  type Frame,
} from '@engine/service-protocol';

import type {
  DeploymentTransport,
  Exchange,
  ExchangeListener,
  ExchangeRequest,
} from '../invoker/deployment-transport.js';
import { eagerState, END, output } from './sdk-frames.js';

/** Runs when an attempt has been given its start and replay, and again after each frame that follows. */
export type Script = (stream: SdkStream) => void;

const FRAME_BYTES_MAX = 64 * 1024 * 1024;

export class SdkStream implements Exchange {
  readonly request: ExchangeRequest;
  /** All frames received so far, the start first. */
  readonly frames: Frame[] = [];
  isRequestClosed = false;
  isReset = false;
  isPaused = false;
  isSuspended = false;
  /** Codes of the frames sent so far. */
  readonly sent: number[] = [];
  readonly #decoder = new FrameDecoder(FRAME_BYTES_MAX);
  readonly #listener: ExchangeListener;
  readonly #scheduler: Scheduler;
  readonly #script: Script;
  #hasAnswered = false;
  #isFinished = false;

  constructor(
    request: ExchangeRequest,
    listener: ExchangeListener,
    side: { readonly scheduler: Scheduler; readonly script: Script },
  ) {
    this.request = request;
    this.#listener = listener;
    this.#scheduler = side.scheduler;
    this.#script = side.script;
  }

  /** True when a notification of this type was replayed or pushed. */
  has(type: keyof typeof NOTIFICATION_CODE): boolean {
    return this.frames.some((frame) => frame.type === NOTIFICATION_CODE[type]);
  }

  /** True when a frame with this code was received: a command among them was replayed. */
  hasCode(code: number): boolean {
    return this.frames.some((frame) => frame.type === code);
  }

  /** True when a command with this code is in the journal or was sent. */
  knows(code: number): boolean {
    return this.hasCode(code) || this.sent.includes(code);
  }

  /** Eager state that came with the start. */
  state(key: string): string | undefined {
    const [start] = this.frames;
    return start === undefined ? undefined : eagerState(start.payload).get(key);
  }

  /** Sends a suspension, once. */
  suspend(frame: Uint8Array): void {
    this.isSuspended = true;
    this.#isFinished = true;
    this.send(frame);
  }

  /** Sends frames to the server; the response head comes before the first. */
  send(...frames: readonly Uint8Array[]): void {
    for (const frame of frames) this.sent.push(((frame[0] ?? 0) << 8) | (frame[1] ?? 0));
    this.#later(() => {
      this.#answer(200);
      for (const frame of frames) this.#listener.onData(frame);
    });
  }

  /** Sends the output and the end, once. */
  finish(result: string): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.send(output(result), END);
  }

  refuse(status: number, headers: Readonly<Record<string, string>> = {}): void {
    this.#later(() => {
      this.#answer(status, headers);
    });
  }

  breakOff(message = 'connection reset'): void {
    this.#later(() => {
      this.#listener.onError(message);
    });
  }

  write(bytes: Uint8Array): void {
    this.#decoder.push(bytes);
    for (let frame = this.#next(); frame !== undefined; frame = this.#next()) {
      this.frames.push(frame);
    }
    this.#script(this);
  }

  closeRequest(): void {
    this.isRequestClosed = true;
    // SDKs end the response when the request has ended.
    this.#later(() => {
      if (this.#isFinished || !this.#hasAnswered) this.#listener.onEnd();
    });
    this.#script(this);
  }

  reset(): void {
    this.isReset = true;
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  #next(): Frame | undefined {
    const frame = this.#decoder.next();
    return frame?.kind === 'fault' ? undefined : frame;
  }

  #answer(status: number, headers: Readonly<Record<string, string>> = {}): void {
    if (this.#hasAnswered) return;
    this.#hasAnswered = true;
    const contentType = this.request.headers['content-type'] ?? '';
    this.#listener.onHead(status, {
      'content-type': contentType,
      'x-restate-server': 'scripted/1',
      ...headers,
    });
  }

  #later(fn: () => void): void {
    this.#scheduler.immediate(() => {
      if (!this.isReset) fn();
    });
  }
}

export class ScriptedDeployment implements DeploymentTransport {
  /** Every attempt so far, the oldest first. */
  readonly streams: SdkStream[] = [];
  readonly #scheduler: Scheduler;
  readonly #scripts = new Map<string, Script>();

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** `name`: `Service/handler`. */
  on(name: string, script: Script): void {
    this.#scripts.set(`/invoke/${name}`, script);
  }

  /** Attempts of one handler. */
  streamsOf(name: string): SdkStream[] {
    return this.streams.filter((stream) => stream.request.path === `/invoke/${name}`);
  }

  open(request: ExchangeRequest, listener: ExchangeListener): SdkStream {
    const script = this.#scripts.get(request.path) ?? notFound;
    const stream = new SdkStream(request, listener, { scheduler: this.#scheduler, script });
    this.streams.push(stream);
    return stream;
  }
}

function notFound(stream: SdkStream): void {
  if (stream.frames.some((frame) => frame.type === MESSAGE_TYPE.start)) stream.refuse(404);
}
