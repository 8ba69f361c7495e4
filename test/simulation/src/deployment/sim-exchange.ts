/**
 * One connection to a deployment. It may be refused, answer with a bad head, break at any byte, end early or fall silent; the
 * two sides see it at different times, so a handler may still work for a server that has gone.
 */

import type { Exchange, ExchangeListener, ExchangeRequest } from '@engine/worker';

import type { Chance } from '../simulator/chance.js';
import { EPOCH_MS, type EventLoop } from '../simulator/event-loop.js';
import type { ServerProcess } from '../simulator/process.js';
import { drawFault, type DeploymentFaults, type ExchangeFault } from './exchange-fault.js';
import { CODE, frameBytes, FrameReader, type SdkFrame } from './frames.js';
import type { Handler } from './handler-context.js';
import { HandlerMachine, type HandlerObserver } from './handler-machine.js';
import { ProtoWriter } from './proto.js';

/** A connection as others see it. */
export interface ExchangeFacts {
  readonly number: number;
  /** Of the server. */
  readonly process: ServerProcess;
  readonly invocationId: string;
  readonly service: string;
  readonly handler: string;
  readonly key: string | undefined;
  readonly version: number;
}

/** Who looks at the connections. */
export interface ExchangeObserver {
  opened(facts: ExchangeFacts, fault: ExchangeFault): void;
  /** The server wrote a whole frame. */
  written(facts: ExchangeFacts, frame: SdkFrame): void;
  /** The server can no longer hear the handler, or the handler said its last word. */
  over(facts: ExchangeFacts): void;
  handlerObserver(facts: ExchangeFacts): HandlerObserver;
}

export interface ExchangeDependencies {
  readonly loop: EventLoop;
  readonly chance: Chance;
  readonly faults: DeploymentFaults;
  readonly handlers: (service: string, handler: string) => Handler | undefined;
  readonly observer: ExchangeObserver;
}

export interface Opening {
  readonly number: number;
  readonly process: ServerProcess;
  readonly request: ExchangeRequest;
  readonly listener: ExchangeListener;
}

/** Longest time until a handler notices that its server is gone. */
const NOTICE_MS_MAX = 3_000;

export class SimExchange implements Exchange {
  readonly #opening: Opening;
  readonly #dependencies: ExchangeDependencies;
  readonly #onClosed: () => void;
  readonly #facts: ExchangeFacts;
  readonly #fault: ExchangeFault;
  readonly #machine: HandlerMachine | undefined;
  readonly #written = new FrameReader();
  readonly #received = new FrameReader();
  /** What arrived for the server while it does not read. */
  readonly #held: (() => void)[] = [];
  #upAt = 0;
  #downAt = 0;
  #isPaused = false;
  /** The server hears nothing any more. */
  #isOver = false;
  /** The handler can say nothing any more. */
  #isMute = false;
  #isRequestClosed = false;
  #isWatched = true;
  #emitted = 0;

  constructor(opening: Opening, dependencies: ExchangeDependencies, onClosed: () => void) {
    this.#opening = opening;
    this.#dependencies = dependencies;
    this.#onClosed = onClosed;
    this.#facts = factsOf(opening);
    this.#fault = drawFault(dependencies.chance, dependencies.faults);
    this.#machine = this.#makeMachine();
  }

  begin(): void {
    this.#dependencies.observer.opened(this.#facts, this.#fault);
    const { headers } = this.#opening.request;
    switch (this.#fault.kind) {
      case 'refused':
        this.#breakOff('connection refused');
        return;
      case 'status':
        this.#head(this.#fault.status, { 'retry-after': this.#fault.retryAfter });
        this.#refuse();
        return;
      case 'contentType':
        this.#head(200, { 'content-type': 'text/plain' });
        this.#refuse();
        return;
      case 'none':
      case 'openEnd':
      case 'cut':
      case 'eof':
      case 'hang':
      case 'errorFrame':
      case 'garbage':
        if (this.#machine === undefined) this.#head(404, {});
        else
          this.#head(200, { 'content-type': headers['content-type'], 'x-restate-server': 'sim' });
    }
  }

  // From the server.

  write(bytes: Uint8Array): void {
    if (this.#isOver || !this.#opening.process.stepOutward()) return;
    for (const frame of this.#written.push(bytes)) {
      this.#dependencies.observer.written(this.#facts, frame);
    }
    this.#up(() => {
      for (const frame of this.#received.push(bytes)) this.#machine?.frame(frame);
    });
  }

  closeRequest(): void {
    if (this.#isOver || !this.#opening.process.stepOutward()) return;
    this.#up(() => {
      this.#isRequestClosed = true;
      this.#machine?.requestClosed();
      if (this.#machine?.isFinished !== false || this.#isMute) this.#endResponse();
    });
  }

  reset(): void {
    if (!this.#opening.process.stepOutward()) return;
    this.#close();
    this.#abandon();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    for (const arrive of this.#held.splice(0)) this.#down(arrive);
  }

  serverDied(process: ServerProcess): void {
    if (process !== this.#opening.process) return;
    this.#close();
    this.#abandon();
  }

  // From the handler.

  #makeMachine(): HandlerMachine | undefined {
    const { loop, chance, faults, handlers, observer } = this.#dependencies;
    const { service, handler, version } = this.#facts;
    const script = handlers(service, handler);
    if (script === undefined) return undefined;
    return new HandlerMachine({
      version,
      handler: script,
      observer: observer.handlerObserver(this.#facts),
      now: () => EPOCH_MS + Math.floor(loop.now),
      work: (fn) => {
        loop.after(chance.delay(faults.workMs, 400), fn);
      },
      emit: (frames) => {
        this.#emit(frames);
      },
      finish: () => {
        this.#finish();
      },
    });
  }

  #emit(frames: readonly SdkFrame[]): void {
    const passed: Uint8Array[] = [];
    for (const frame of frames) {
      if (this.#isMute) break;
      const bytes = frameBytes(frame);
      if (this.#isFaultDue()) passed.push(...this.#goWrong(bytes));
      else passed.push(bytes);
      this.#emitted += 1;
    }
    this.#send(Buffer.concat(passed));
    if (this.#isMute) this.#afterFault();
  }

  #isFaultDue(): boolean {
    return 'afterFrames' in this.#fault && this.#emitted === this.#fault.afterFrames;
  }

  /** What still passes when the fault of this connection comes. */
  #goWrong(bytes: Uint8Array): readonly Uint8Array[] {
    this.#isMute = true;
    switch (this.#fault.kind) {
      case 'cut':
      case 'eof':
        return [bytes.subarray(0, this.#dependencies.chance.below(bytes.length))];
      case 'errorFrame': {
        const payload = new ProtoWriter().uint(1, 500).text(2, 'simulated failure').finish();
        return [frameBytes({ type: CODE.error, payload })];
      }
      case 'garbage':
        return [frameBytes({ type: 0x0bad, payload: Uint8Array.of(1, 2, 3) })];
      default:
        return [];
    }
  }

  #afterFault(): void {
    switch (this.#fault.kind) {
      case 'cut':
        this.#breakOff('connection reset by peer');
        this.#abandon();
        return;
      case 'eof':
        this.#endResponse();
        this.#abandon();
        return;
      case 'errorFrame':
      case 'garbage':
        this.#machine?.abort();
        this.#finish();
        return;
      default:
        this.#machine?.abort();
        this.#watchOver();
    }
  }

  /** Cuts the bytes anywhere and sends the pieces. */
  #send(bytes: Uint8Array): void {
    const { chance } = this.#dependencies;
    let rest = bytes;
    while (rest.length > 0) {
      const length = chance.happens(0.3) ? chance.between(1, rest.length) : rest.length;
      const chunk = rest.slice(0, length);
      rest = rest.subarray(length);
      this.#down(() => {
        this.#opening.listener.onData(chunk);
      });
    }
  }

  /** The handler's last word is said; the response ends when the request has. */
  #finish(): void {
    this.#watchOver();
    if (this.#isRequestClosed) this.#endResponse();
  }

  #head(status: number, headers: Readonly<Record<string, string | undefined>>): void {
    this.#down(() => {
      this.#opening.listener.onHead(status, headers);
    });
  }

  #endResponse(): void {
    if (this.#fault.kind === 'openEnd' || this.#fault.kind === 'hang') return;
    this.#down(() => {
      this.#close();
      this.#opening.listener.onEnd();
    });
  }

  #breakOff(message: string): void {
    this.#isMute = true;
    this.#down(() => {
      this.#close();
      this.#opening.listener.onError(message);
    });
  }

  /** No handler ever hears of this attempt. */
  #refuse(): void {
    this.#isMute = true;
    this.#machine?.abort();
    this.#watchOver();
  }

  /** The handler learns later that nobody listens; until then it goes on. */
  #abandon(): void {
    const { loop, chance } = this.#dependencies;
    this.#isMute = true;
    loop.after(chance.delay(20, NOTICE_MS_MAX), () => {
      this.#machine?.abort();
    });
  }

  #close(): void {
    this.#isOver = true;
    this.#watchOver();
    this.#onClosed();
  }

  #watchOver(): void {
    if (!this.#isWatched) return;
    this.#isWatched = false;
    this.#dependencies.observer.over(this.#facts);
  }

  // The way, in order in each direction.

  #up(arrive: () => void): void {
    const { loop } = this.#dependencies;
    this.#upAt = Math.max(this.#upAt + 0.000_01, loop.now + this.#delay());
    loop.at(this.#upAt, arrive);
  }

  #down(arrive: () => void): void {
    const { loop } = this.#dependencies;
    this.#downAt = Math.max(this.#downAt + 0.000_01, loop.now + this.#delay());
    loop.at(
      this.#downAt,
      this.#opening.process.guarded(() => {
        if (this.#isOver) return;
        if (this.#isPaused) this.#held.push(arrive);
        else arrive();
      }),
    );
  }

  #delay(): number {
    const { chance, faults } = this.#dependencies;
    return chance.delay(faults.delayMs, faults.delayMsMax);
  }
}

function factsOf({ number, process, request }: Opening): ExchangeFacts {
  const { headers, path } = request;
  const [service = '', handler = ''] = path.split('/').slice(-2);
  const key = headers['x-restate-service-key'];
  return {
    number,
    process,
    invocationId: headers['x-restate-invocation-id'] ?? '',
    service,
    handler,
    key: key === undefined ? undefined : decodeURIComponent(key),
    version: Number(/\.v(\d+)$/.exec(headers['content-type'] ?? '')?.[1] ?? 0),
  };
}
