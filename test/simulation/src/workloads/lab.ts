/** What handlers and clients share outside of the server: mail, counters of what really ran, and the list of broken promises. */

import type { EventLoop } from '../simulator/event-loop.js';

export class Lab {
  readonly loop: EventLoop;
  readonly violations: string[] = [];
  /** How far the clock of the server may be off, ms: what it times may come early by that. */
  readonly #clockSkewMs: number;
  readonly #mail = new Map<string, string>();
  readonly #readers = new Map<string, ((text: string) => void)[]>();
  readonly #tries = new Map<string, number>();
  readonly #executions = new Map<string, Set<string>>();
  readonly #held = new Set<string>();

  constructor(loop: EventLoop, clockSkewMs: number) {
    this.loop = loop;
    this.#clockSkewMs = clockSkewMs;
  }

  violation(text: string): void {
    this.violations.push(`${this.loop.now.toFixed(3)} ${text}`);
  }

  expect(holds: boolean, text: () => string): void {
    if (!holds) this.violation(text());
  }

  /** Nothing timed by the server comes before its time. */
  expectTime(now: number, notBefore: number, text: () => string): void {
    this.expect(now >= notBefore - this.#clockSkewMs, text);
  }

  /** Leaves a text for whoever asks for the tag. Called again with the same tag it changes nothing. */
  post(tag: string, text: string): void {
    if (this.#mail.has(tag)) return;
    this.#mail.set(tag, text);
    for (const read of this.#readers.get(tag) ?? []) read(text);
    this.#readers.delete(tag);
  }

  /** The text that was left, when it is there. */
  mail(tag: string): Promise<string> {
    const text = this.#mail.get(tag);
    if (text !== undefined) return Promise.resolve(text);
    return new Promise((resolve) => {
      this.#readers.set(tag, [...(this.#readers.get(tag) ?? []), resolve]);
    });
  }

  /** How often this was called with the tag, this time included. */
  try(tag: string): number {
    const tries = (this.#tries.get(tag) ?? 0) + 1;
    this.#tries.set(tag, tries);
    return tries;
  }

  /** From now on no attempt of the invocation may start. */
  hold(invocationId: string): void {
    this.#held.add(invocationId);
  }

  release(invocationId: string): void {
    this.#held.delete(invocationId);
  }

  isHeld(invocationId: string): boolean {
    return this.#held.has(invocationId);
  }

  /** Notes which invocation really did what the tag names. */
  execute(tag: string, invocationId: string): void {
    const executions = this.#executions.get(tag) ?? new Set();
    executions.add(invocationId);
    this.#executions.set(tag, executions);
  }

  /** Invocations that did what the tag names. */
  executionsOf(tag: string): ReadonlySet<string> {
    return this.#executions.get(tag) ?? new Set();
  }
}
