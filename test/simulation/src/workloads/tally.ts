/** What must stand in the objects at the end: every addition counted once, every line once and each sender's lines in order. */

import { decodeJson } from '../deployment/handler-context.js';
import { EPOCH_MS } from '../simulator/event-loop.js';
import { resultText, type Client } from './client.js';
import type { Lab } from './lab.js';

interface Counter {
  readonly service: string;
  readonly key: string;
  adding: number;
  readonly after: number[];
}

export class Tally {
  readonly lab: Lab;
  readonly #counters = new Map<string, Counter>();
  readonly #lines = new Map<string, Map<string, number>>();
  readonly #over = new WeakSet<Promise<unknown>>();

  constructor(lab: Lab) {
    this.lab = lab;
  }

  /** Ms since the epoch. */
  now(): number {
    return EPOCH_MS + Math.floor(this.lab.loop.now);
  }

  sleep(ms: number): Promise<void> {
    return this.lab.loop.sleep(ms);
  }

  /** True when the promise was settled at some earlier question. */
  isOver(promise: Promise<unknown>): boolean {
    const note = (): void => {
      this.#over.add(promise);
    };
    promise.then(note, note);
    return this.#over.has(promise);
  }

  adding(service: string, key: string): void {
    this.#counter(service, key).adding += 1;
  }

  added(service: string, key: string, after: number): void {
    this.#counter(service, key).after.push(after);
  }

  expectLines(key: string, from: string, count: number): void {
    const senders = this.#lines.get(key) ?? new Map<string, number>();
    senders.set(from, count);
    this.#lines.set(key, senders);
  }

  /** Reads every object and compares. Sends may still be on their way, so it looks again until `until` (virtual ms). */
  async check(client: Client, until: number): Promise<void> {
    for (const counter of this.#counters.values()) await this.#checkCounter(client, counter);
    for (const [key, senders] of this.#lines)
      await this.#checkLines(client, { key, senders, until });
  }

  async #checkCounter(client: Client, counter: Counter): Promise<void> {
    const { service, key, adding } = counter;
    const after = counter.after.toSorted((a, b) => a - b);
    const isExact = after.every((value, index) => value === index + 1) && after.length === adding;
    this.lab.expect(
      isExact,
      () => `${service}/${key} was added to ${String(adding)} times: ${after.join(' ')}`,
    );
    await client.expect({ service, handler: 'read', key }, null, (value) => value === adding);
  }

  async #checkLines(
    client: Client,
    log: {
      readonly key: string;
      readonly senders: ReadonlyMap<string, number>;
      readonly until: number;
    },
  ): Promise<void> {
    const { key, senders, until } = log;
    const expected = [...senders.values()].reduce((sum, length) => sum + length, 0);
    let lines = await this.#readLines(client, key);
    while (lines.length < expected && this.lab.loop.now < until) {
      await this.sleep(1_000);
      lines = await this.#readLines(client, key);
    }
    this.lab.expect(
      lines.length === expected,
      () =>
        `Log/${key} has ${String(lines.length)} lines of ${String(expected)}: ${lines.join(' ')}`,
    );
    for (const [from, count] of senders) {
      const own = lines.filter((line) => line.startsWith(`${from}#`));
      const inOrder = Array.from({ length: count }, (_, sequence) => `${from}#${String(sequence)}`);
      this.lab.expect(
        own.join() === inOrder.join(),
        () => `Log/${key} has the lines of ${from} as ${own.join(' ')}`,
      );
    }
  }

  async #readLines(client: Client, key: string): Promise<readonly string[]> {
    const { result } = await client.call({ service: 'Log', handler: 'read', key }, null);
    if (result.kind === 'success') return decodeJson(result.value) as readonly string[];
    this.lab.violation(`Log/${key} cannot be read: ${resultText(result)}`);
    return [];
  }

  #counter(service: string, key: string): Counter {
    const name = `${service}/${key}`;
    const known = this.#counters.get(name);
    if (known !== undefined) return known;
    const counter = { service, key, adding: 0, after: [] };
    this.#counters.set(name, counter);
    return counter;
  }
}
