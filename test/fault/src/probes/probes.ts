/** One key of a small object in each partition, called again and again while a fault is looked at: who serves, and how soon. */

import { setTimeout as pause } from 'node:timers/promises';

import { shardOfInvocation, type InvocationId } from '@engine/domain';

import { request } from '../load/ingress-client.js';
import type { System } from '../systems/system.js';

const EVERY_MS = 250;
const IN_FLIGHT_MAX = 20;
const KEYS_TRIED_MAX = 10_000;

export class Probes {
  readonly #system: System;
  /** Index = partition. */
  readonly #keys: readonly string[];

  private constructor(system: System, keys: readonly string[]) {
    this.#system = system;
    this.#keys = keys;
  }

  /** Finds a key for each partition. The probe object must be registered. */
  static async prepare(system: System): Promise<Probes> {
    const keys = new Map<number, string>();
    for (let tried = 0; keys.size < system.partitionCount; tried += 1) {
      if (tried > KEYS_TRIED_MAX) throw new Error('some partition has no key');
      const key = `probe-${String(tried)}`;
      const partition = await partitionOf(system, key);
      if (partition !== undefined && !keys.has(partition)) keys.set(partition, key);
    }
    const all = Array.from({ length: system.partitionCount }, (_, id) => keys.get(id) ?? '');
    return new Probes(system, all);
  }

  /** Begins to look at these partitions; at all of them unless told. `avoid`: an ingress that is not asked. */
  watch(partitions?: Iterable<number>, avoid?: string): Watch {
    const urls = this.#system.ingressUrls.filter((url) => url !== avoid);
    const all = [...(partitions ?? this.#keys.keys())];
    const keys = new Map(all.map((partition) => [partition, this.#keys[partition] ?? '']));
    return new Watch(urls.length === 0 ? this.#system.ingressUrls : urls, keys);
  }
}

async function partitionOf(system: System, key: string): Promise<number | undefined> {
  const url = `${system.ingressUrls[0] ?? ''}/engine/call/Probe/${key}/ping`;
  const response = await fetch(url, { method: 'POST' });
  await response.text();
  const id = response.headers.get('x-engine-id');
  if (id === null || !response.ok) return undefined;
  return shardOfInvocation(id as InvocationId, system.partitionCount);
}

/** From its making on, each partition is called several times a second, without waiting for the answers before. */
export class Watch implements Disposable {
  readonly since = performance.now();
  readonly #waiting: Set<number>;
  #firstSuccessMs = 0;
  #slowestMs = 0;
  #failures = 0;
  #isOver = false;

  constructor(urls: readonly string[], keys: ReadonlyMap<number, string>) {
    this.#waiting = new Set(keys.keys());
    for (const [partition, key] of keys) void this.#look(partition, key, urls);
  }

  /** Each partition has answered a call that was made since. */
  get hasSucceeded(): boolean {
    return this.#waiting.size === 0;
  }

  /** Partitions without an answer so far. */
  get silent(): readonly number[] {
    return [...this.#waiting];
  }

  /** Until the last partition gave its first answer, ms. */
  get firstSuccessMs(): number {
    return this.#firstSuccessMs;
  }

  /** The longest that any call so far took, ms. */
  get slowestMs(): number {
    return this.#slowestMs;
  }

  get failures(): number {
    return this.#failures;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
  }

  async #look(partition: number, key: string, urls: readonly string[]): Promise<void> {
    let inFlight = 0;
    for (let turn = partition; !this.#isOver; turn += 1) {
      if (inFlight < IN_FLIGHT_MAX) {
        inFlight += 1;
        const url = urls[turn % urls.length] ?? '';
        void this.#call(partition, `${url}/engine/call/Probe/${key}/ping`).then(() => {
          inFlight -= 1;
        });
      }
      await pause(EVERY_MS);
    }
  }

  async #call(partition: number, url: string): Promise<void> {
    const began = performance.now();
    const reply = await request(url, {});
    if (this.#isOver) return;
    if (reply.kind === 'broken' || reply.status !== 200) {
      this.#failures += 1;
      return;
    }
    const now = performance.now();
    this.#slowestMs = Math.max(this.#slowestMs, now - began);
    if (!this.#waiting.delete(partition)) return;
    this.#firstSuccessMs = Math.max(this.#firstSuccessMs, now - this.since);
  }
}
