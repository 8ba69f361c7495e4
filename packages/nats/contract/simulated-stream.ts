/**
 * Twin of a JetStream stream, with every misbehaviour that was seen of the real one: messages that land late, answers that are
 * lost, refusals against proposals that a change of leader then drops, seconds without a leader, a full disk, and (never seen with
 * every write synced, but possible) a lost tail. Chance is seeded, time is the scheduler's.
 */

import type { Random, Scheduler } from '@engine/runtime';

import type {
  AppendAnswer,
  AppendRequest,
  LogStream,
  StoredMessage,
  StreamState,
} from '../src/log/log-stream.js';

/** Probabilities, 0 to 1, of what can happen to one publish. */
export interface StreamFaults {
  /** It never arrives. */
  readonly lostRequest: number;
  /** It arrives seconds later, after whoever sent it has sent it again. */
  readonly lateRequest: number;
  /** It is stored, and nobody is told. */
  readonly lostAnswer: number;
  /** The stream's leader goes away just then: proposals are dropped, and for 4 to 8 s nobody answers. */
  readonly leaderChange: number;
}

export const NO_FAULTS: StreamFaults = {
  lostRequest: 0,
  lateRequest: 0,
  lostAnswer: 0,
  leaderChange: 0,
};

const TRANSIT_MS_MAX = 3;

/** Few, so that a reader sees several pages. */
const PAGE_MESSAGES_MAX = 3;
const COMMIT_MS_MAX = 4;
const LATE_MS = { min: 500, max: 9_000 };
const LEADERLESS_MS = { min: 4_000, max: 8_000 };

export interface SimulatedStreamDependencies {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly now: () => number;
}

interface Proposal {
  readonly payload: Uint8Array;
  readonly answer: (answer: AppendAnswer) => void;
}

export class SimulatedStream {
  faults: StreamFaults = NO_FAULTS;
  /** Every append is refused for want of space. */
  isFull = false;
  payloadBytesMax = 1024 * 1024;
  readonly #dependencies: SimulatedStreamDependencies;
  readonly #messages = new Map<number, Uint8Array>();
  #first = 1;
  #last = 0;
  /** Accepted by the stream's leader, not yet by its followers. */
  #proposals: Proposal[] = [];
  #isLeaderless = false;
  /** Nothing is committed until the leader changes. */
  #isStuck = false;
  #waiting: (() => void)[] = [];

  constructor(dependencies: SimulatedStreamDependencies) {
    this.#dependencies = dependencies;
  }

  /** The stream as one process sees it. */
  view(): LogStream & { isCutOff: boolean } {
    return new StreamView(this, this.#dependencies);
  }

  /** What happens at the servers when a publish arrives. */
  arrive(payload: Uint8Array, expectedLast: number, answer: (answer: AppendAnswer) => void): void {
    if (this.#isLeaderless) {
      answer({ kind: 'unavailable', why: 'nobody leads the stream' });
    } else if (this.isFull) {
      answer({ kind: 'refused', why: 'no space' });
    } else if (expectedLast !== this.#last + this.#proposals.length) {
      answer({ kind: 'wrong-last' });
    } else {
      this.#proposals.push({ payload: payload.slice(), answer });
      if (this.#happens(this.faults.leaderChange)) this.changeLeader();
      else this.#dependencies.scheduler.after(this.#between(0, COMMIT_MS_MAX), this.#commit);
    }
  }

  /** Proposals are dropped without a word; for seconds nobody answers. */
  changeLeader(): void {
    this.#proposals = [];
    this.#isStuck = false;
    this.#isLeaderless = true;
    const ms = this.#between(LEADERLESS_MS.min, LEADERLESS_MS.max);
    this.#dependencies.scheduler.after(ms, () => {
      this.#isLeaderless = false;
    });
  }

  /** The stream forgets its newest messages, acknowledged or not. */
  loseTail(count: number): void {
    for (let i = 0; i < count; i += 1) {
      this.#messages.delete(this.#last);
      this.#last -= 1;
    }
  }

  /** A proposal that will never be committed, of nobody: appends behind the last message are refused until the leader changes. */
  proposePhantom(): void {
    this.#proposals.push({ payload: new Uint8Array(0), answer: () => undefined });
    this.#isStuck = true;
  }

  /** Overwrites one byte of a message. */
  damage(sequence: number): void {
    const payload = this.#messages.get(sequence);
    if (payload !== undefined) payload[payload.length - 1] = (payload.at(-1) ?? 0) ^ 1;
  }

  get last(): number {
    return this.#last;
  }

  read(sequence: number): StoredMessage | undefined {
    const payload = this.#messages.get(sequence);
    return payload === undefined ? undefined : { sequence, payload };
  }

  state(): StreamState {
    return { first: this.#first, last: this.#last, now: this.#dependencies.now() };
  }

  get isLeaderless(): boolean {
    return this.#isLeaderless;
  }

  purgeBelow(sequence: number): void {
    while (this.#first < sequence && this.#first <= this.#last) {
      this.#messages.delete(this.#first);
      this.#first += 1;
    }
  }

  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      signal.addEventListener('abort', () => {
        resolve();
      });
    });
  }

  readonly #commit = (): void => {
    const proposal = this.#isStuck ? undefined : this.#proposals.shift();
    if (proposal === undefined) return;
    this.#last += 1;
    this.#messages.set(this.#last, proposal.payload);
    proposal.answer({ kind: 'stored', sequence: this.#last });
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  };

  #happens(probability: number): boolean {
    return probability > 0 && this.#dependencies.random.float() < probability;
  }

  #between(min: number, max: number): number {
    return min + this.#dependencies.random.float() * (max - min);
  }
}

class StreamView implements LogStream {
  /** Nothing goes out and nothing comes in. */
  isCutOff = false;
  readonly #stream: SimulatedStream;
  readonly #dependencies: SimulatedStreamDependencies;

  constructor(stream: SimulatedStream, dependencies: SimulatedStreamDependencies) {
    this.#stream = stream;
    this.#dependencies = dependencies;
  }

  get payloadBytesMax(): number {
    return this.#stream.payloadBytesMax;
  }

  publish({ payload, expectedLast, onAnswer }: AppendRequest): () => void {
    let isForgotten = false;
    const { faults } = this.#stream;
    const isLost = this.isCutOff || this.#happens(faults.lostRequest);
    if (!isLost) {
      const isLate = this.#happens(faults.lateRequest);
      const ms = isLate
        ? this.#between(LATE_MS.min, LATE_MS.max)
        : this.#between(0, TRANSIT_MS_MAX);
      this.#dependencies.scheduler.after(ms, () => {
        this.#stream.arrive(payload, expectedLast, (answer) => {
          if (this.isCutOff || this.#happens(faults.lostAnswer)) return;
          this.#dependencies.scheduler.after(this.#between(0, TRANSIT_MS_MAX), () => {
            if (!isForgotten) onAnswer(answer);
          });
        });
      });
    }
    return () => {
      isForgotten = true;
    };
  }

  async get(sequence: number): Promise<StoredMessage | undefined> {
    await this.#roundTrip();
    return this.#stream.read(sequence);
  }

  async state(): Promise<StreamState> {
    await this.#roundTrip();
    return this.#stream.state();
  }

  async *messages(from: number, signal: AbortSignal): AsyncIterable<readonly StoredMessage[]> {
    let next = from;
    for (;;) {
      signal.throwIfAborted();
      const messages = this.isCutOff ? [] : this.#readFrom(next);
      if (messages.length > 0) {
        next += messages.length;
        yield messages;
      } else if (this.isCutOff || next < this.#stream.state().first) {
        // What is missing is skipped.
        next = Math.max(next, this.#stream.state().first);
        await this.#after(100);
      } else {
        await this.#stream.changed(signal);
      }
    }
  }

  async purgeBelow(sequence: number): Promise<void> {
    await this.#roundTrip();
    this.#stream.purgeBelow(sequence);
  }

  onReconnect(): Disposable {
    return { [Symbol.dispose]: () => undefined };
  }

  #readFrom(sequence: number): StoredMessage[] {
    const messages: StoredMessage[] = [];
    for (let next = sequence; messages.length < PAGE_MESSAGES_MAX; next += 1) {
      const message = this.#stream.read(next);
      if (message === undefined) break;
      messages.push(message);
    }
    return messages;
  }

  async #roundTrip(): Promise<void> {
    await this.#after(this.#between(0, TRANSIT_MS_MAX));
    const isLost = this.isCutOff || this.#happens(this.#stream.faults.lostRequest);
    if (!isLost && !this.#stream.isLeaderless) return;
    await this.#after(2_000);
    throw new Error('no answer');
  }

  #after(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#dependencies.scheduler.after(ms, resolve);
    });
  }

  #happens(probability: number): boolean {
    return probability > 0 && this.#dependencies.random.float() < probability;
  }

  #between(min: number, max: number): number {
    return min + this.#dependencies.random.float() * (max - min);
  }
}
