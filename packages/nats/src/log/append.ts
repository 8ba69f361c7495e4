/**
 * What to do about one message until its fate is known. Pure: events in, steps out.
 *
 * The same bytes are sent at the same expected sequence until an acknowledgement comes, or until the message of that sequence can
 * be read: if it is ours it landed, if not, another leader wrote. A timeout, a refusal, or "not there" prove nothing, because a copy
 * that is still under way may land later; the expected sequence lets at most one of them in (docs/design/log-on-jetstream.md).
 */

import type { LogHealth } from '@engine/log';
import { equalBytes } from '@engine/stdx';

import type { AppendAnswer } from './log-stream.js';

/** No answer for so long: look, and send again. Grows up to the second. */
const ANSWER_TIMEOUT_MS_MIN = 1_000;
const ANSWER_TIMEOUT_MS_MAX = 3_000;

/** Between an answer that settles nothing and the next try. Grows up to the second. */
const RETRY_DELAY_MS_MIN = 50;
const RETRY_DELAY_MS_MAX = 500;

/** Acknowledgements are the only sign of health: without one for so long, the log is silent. */
export const SILENCE_MS = 15_000;

export type AppendStep =
  | { readonly kind: 'publish' }
  /** Read the message after the expected sequence. */
  | { readonly kind: 'read' }
  /** Call `elapsed` in so many ms. Replaces the wait before. */
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'report'; readonly health: LogHealth }
  /** The end: no more events, please. */
  | { readonly kind: 'settle'; readonly outcome: AppendOutcome };

export type AppendOutcome =
  | { readonly kind: 'landed' }
  /** Another's message stands in its place. */
  | { readonly kind: 'deposed' }
  /** The stream acknowledged what it cannot have done. */
  | { readonly kind: 'broken'; readonly why: string };

export type ReadResult = Uint8Array | 'absent' | 'failed';

export class Append {
  readonly #payload: Uint8Array;
  readonly #expectedLast: number;
  readonly #startedAt: number;
  #tries = 0;
  #isReading = false;
  #health: LogHealth['kind'] = 'ok';

  constructor(payload: Uint8Array, expectedLast: number, now: number) {
    this.#payload = payload;
    this.#expectedLast = expectedLast;
    this.#startedAt = now;
  }

  begin(): readonly AppendStep[] {
    return [{ kind: 'publish' }, { kind: 'wait', ms: ANSWER_TIMEOUT_MS_MIN }];
  }

  answered(answer: AppendAnswer, now: number): readonly AppendStep[] {
    switch (answer.kind) {
      case 'stored':
        return [{ kind: 'settle', outcome: this.#judgeStored(answer.sequence) }];
      case 'wrong-last':
        return [...this.#read(), ...this.#waitAgain(now)];
      case 'refused':
        return [...this.#report({ kind: 'refused', why: answer.why }), ...this.#waitAgain(now)];
      case 'unavailable':
        return this.#waitAgain(now);
    }
  }

  /** The wait is over: an answer that did not come may never come. */
  elapsed(now: number): readonly AppendStep[] {
    const timeout = Math.min(ANSWER_TIMEOUT_MS_MIN * 1.5 ** this.#tries, ANSWER_TIMEOUT_MS_MAX);
    return [...this.#read(), { kind: 'publish' }, ...this.#wait(timeout, now)];
  }

  read(result: ReadResult, now: number): readonly AppendStep[] {
    this.#isReading = false;
    if (typeof result === 'string') return this.#waitAgain(now);
    const kind = equalBytes(result, this.#payload) ? 'landed' : 'deposed';
    return [{ kind: 'settle', outcome: { kind } }];
  }

  /** What was sent before may be lost with the old connection. */
  reconnected(now: number): readonly AppendStep[] {
    return [{ kind: 'publish' }, ...this.#wait(ANSWER_TIMEOUT_MS_MIN, now)];
  }

  #judgeStored(sequence: number): AppendOutcome {
    if (sequence === this.#expectedLast + 1) return { kind: 'landed' };
    const why = `message ${String(this.#expectedLast + 1)} was acknowledged as ${String(sequence)}`;
    return { kind: 'broken', why };
  }

  #read(): readonly AppendStep[] {
    if (this.#isReading) return [];
    this.#isReading = true;
    return [{ kind: 'read' }];
  }

  #waitAgain(now: number): readonly AppendStep[] {
    this.#tries += 1;
    return this.#wait(Math.min(RETRY_DELAY_MS_MIN * 2 ** this.#tries, RETRY_DELAY_MS_MAX), now);
  }

  #wait(ms: number, now: number): readonly AppendStep[] {
    const silentForMs = now - this.#startedAt;
    // A log that says why it refuses is not silent.
    if (this.#health !== 'ok') return [{ kind: 'wait', ms }];
    if (silentForMs >= SILENCE_MS) {
      return [{ kind: 'wait', ms }, ...this.#report({ kind: 'silent', forMs: silentForMs })];
    }
    return [{ kind: 'wait', ms: Math.min(ms, SILENCE_MS - silentForMs) }];
  }

  #report(health: LogHealth): readonly AppendStep[] {
    if (this.#health === health.kind) return [];
    this.#health = health.kind;
    return [{ kind: 'report', health }];
  }
}
