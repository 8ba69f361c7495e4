/**
 * What an attempt and its deployment say to each other: one exchange, read as fast as there is room, and one deadline for its
 * silence. What is heard goes to the attempt in order; after `drain`, `reset` and `end` nothing does.
 */

import type { InvocationId } from '@engine/domain';
import type { AttemptInput } from '@engine/attempt';
import { assertNever } from '@engine/stdx';

import { AttemptFlow, type StartWaiter } from './attempt-flow.js';
import type { AttemptRoom } from './attempt-room.js';
import { AttemptWatch } from './attempt-watch.js';
import type { Deadline } from './deadlines.js';
import type { Exchange, ExchangeListener, ExchangeRequest } from './deployment-transport.js';
import { Patience, type Timeouts } from './patience.js';

/** After its last word a deployment may take this long to end the response; then the exchange is reset. */
export const DRAIN_MS = 5_000;

/** The attempt that speaks. */
export interface Speaker extends StartWaiter {
  /** Bytes of a message that began to come and is not whole; 0 = none. */
  readonly expectedBytes: number;
  hear(input: AttemptInput): void;
  /** The handler was asked to suspend and does not. */
  onStuck(): void;
}

export class Conversation implements ExchangeListener, Deadline {
  /** What people may see. */
  readonly watch: AttemptWatch;
  readonly flow: AttemptFlow;
  readonly #room: AttemptRoom;
  readonly #speaker: Speaker;
  #phase: 'open' | 'draining' | 'over' = 'open';
  #exchange: Exchange | undefined;
  #patience: Patience | undefined;
  #isRequestOpen = true;
  #isResponseOver = false;

  constructor(id: InvocationId, room: AttemptRoom, speaker: Speaker) {
    this.watch = new AttemptWatch(id);
    this.flow = new AttemptFlow(room, speaker);
    this.#room = room;
    this.#speaker = speaker;
  }

  /** Call it once, before everything else. */
  begin(request: ExchangeRequest, timeouts: Timeouts): void {
    this.#patience = new Patience(timeouts);
    this.#exchange = this.#room.transport.open(request, this);
    this.flow.opened(this.#exchange);
    this.#renew();
  }

  write(bytes: Uint8Array): void {
    this.#exchange?.write(bytes);
  }

  closeRequest(): void {
    if (!this.#isRequestOpen) return;
    this.#isRequestOpen = false;
    this.#patience?.requestClosed();
    this.#exchange?.closeRequest();
    if (this.#phase === 'open') this.#arm();
  }

  /** What the handler waits for has come, if it still can hear it: its silence is counted from now. */
  answered(): void {
    if (this.#isRequestOpen) this.#renew();
  }

  /** The last word has been said: the response may flow for a moment, and nobody hears it. */
  drain(): void {
    if (this.#phase !== 'open') return;
    this.#phase = 'draining';
    this.closeRequest();
    this.flow.drain();
    if (this.#isResponseOver || this.#exchange === undefined) this.end();
    else this.#room.deadlines.set(this, DRAIN_MS);
  }

  reset(): void {
    if (this.#phase !== 'over') this.#exchange?.reset();
    this.end();
  }

  /** Nothing is expected of the deployment any more. */
  end(): void {
    this.#phase = 'over';
    this.#room.deadlines.clear(this);
    this.flow.end();
  }

  onHead(status: number, headers: Readonly<Record<string, string | undefined>>): void {
    if (this.#phase !== 'open') return;
    const now = this.#room.clock.now();
    this.watch.answered(headers['x-restate-server'], now);
    this.#renew();
    const contentType = headers['content-type'];
    const retryAfter = headers['retry-after'];
    this.#speaker.hear({ kind: 'response-head', status, contentType, retryAfter, now });
  }

  onData(chunk: Uint8Array): void {
    if (this.#phase !== 'open') return;
    this.watch.heard(this.#room.clock.now());
    this.#renew();
    this.#speaker.hear({ kind: 'response-data', chunk });
    if (this.#isOpen) this.flow.received(this.#speaker.expectedBytes);
  }

  onEnd(): void {
    this.#isResponseOver = true;
    if (this.#phase === 'open') this.#speaker.hear({ kind: 'response-end' });
    else this.end();
  }

  onError(message: string): void {
    this.#isResponseOver = true;
    if (this.#phase === 'open') this.#speaker.hear({ kind: 'transport-error', message });
    else this.end();
  }

  onDeadline(): void {
    if (this.#phase === 'open') this.#onSilence();
    else this.reset();
  }

  /** Asked anew: what is heard may have ended it. */
  get #isOpen(): boolean {
    return this.#phase === 'open';
  }

  /** A frame came, or went that asks for one: silence is counted from now. */
  #renew(): void {
    this.#patience?.renew();
    this.#arm();
  }

  #arm(): void {
    if (this.#patience !== undefined) this.#room.deadlines.set(this, this.#patience.delayMs);
  }

  #onSilence(): void {
    const patience = this.#patience;
    if (patience === undefined) return;
    if (this.flow.isHeld) {
      // It is not read: whether it speaks is not known.
      this.#renew();
      return;
    }
    const remedy = patience.exhausted();
    switch (remedy) {
      case 'ask-to-suspend':
        this.#speaker.hear({ kind: 'inactivity-timeout' });
        break;
      case 'report':
        this.#speaker.onStuck();
        break;
      case 'give-up':
        this.#speaker.hear({ kind: 'abort-timeout' });
        return;
      default:
        assertNever(remedy);
    }
    this.#arm();
  }
}
