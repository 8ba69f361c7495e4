/** The simulated world: one clock, one queue of events, links that can be cut, and what is written down of it. */

import type { NodeId } from '@engine/domain';
import { BinaryHeap } from '@engine/stdx';

import { Chance } from './chance.js';

/** Ms until a call without an answer counts as failed. */
const CALL_TIMEOUT_MS = 2_500;

/** Lines of the trace that a failure shows. */
const TRACE_LINES_MAX = 200;

interface Event {
  readonly at: number;
  readonly order: number;
  readonly fn: () => void;
}

/** A process, as far as the world needs to know it. */
export interface Party {
  readonly id: NodeId;
  /** Counts its starts. */
  readonly incarnation: number;
  /** Runs it now, after the thaw, or never: when that life is over. */
  run(fn: () => void, life?: number): void;
}

export interface Delay {
  readonly min: number;
  readonly max: number;
}

export class World {
  readonly chance: Chance;
  now = 0;
  readonly violations: string[] = [];
  readonly #events = new BinaryHeap<Event>((a, b) => a.at - b.at || a.order - b.order);
  readonly #cuts = new Set<string>();
  readonly #trace: string[] = [];
  #order = 0;

  constructor(seed: number) {
    this.chance = new Chance(seed);
  }

  after(ms: number, fn: () => void): void {
    this.#events.push({ at: this.now + ms, order: (this.#order += 1), fn });
  }

  runUntil(time: number): void {
    for (let next = this.#events.peek(); next !== undefined; next = this.#events.peek()) {
      if (next.at > time) break;
      this.#events.pop();
      this.now = next.at;
      next.fn();
    }
    this.now = time;
  }

  /** Runs until it holds, at most so long. Gives the ms it took; undefined: it never held. */
  runUntilTrue(holds: () => boolean, limitMs: number): number | undefined {
    const begin = this.now;
    while (!holds()) {
      if (this.now - begin >= limitMs) return undefined;
      this.runUntil(this.now + 50);
    }
    return this.now - begin;
  }

  note(line: string): void {
    this.#trace.push(`${this.now} ${line}`);
    if (this.#trace.length > TRACE_LINES_MAX) this.#trace.shift();
  }

  violate(rule: string): void {
    this.note(`VIOLATION ${rule}`);
    this.violations.push(`${this.now} ${rule}`);
  }

  get trace(): readonly string[] {
    return this.#trace;
  }

  cut(a: string, b: string): void {
    this.note(`${a} and ${b} are cut`);
    this.#cuts.add(link(a, b));
  }

  mend(a: string, b: string): void {
    if (this.#cuts.delete(link(a, b))) this.note(`${a} and ${b} are mended`);
  }

  mendAll(): void {
    this.#cuts.clear();
  }

  isCut(a: string, b: string): boolean {
    return this.#cuts.has(link(a, b));
  }

  /** A message between processes; lost when the link is cut, at either end of its way. */
  send(from: Party, to: Party, fn: () => void): void {
    if (this.isCut(from.id, to.id)) return;
    const life = to.incarnation;
    this.after(this.chance.between(1, 20), () => {
      if (!this.isCut(from.id, to.id)) to.run(fn, life);
    });
  }

  /** What is asked of a service happens on arrival; the answer may be lost. `done` gets undefined then, or on no answer. */
  call<T>(caller: Party, service: Service, { work, done }: Call<T>): void {
    const life = caller.incarnation;
    let isOver = false;
    const finish = (result: T | undefined): void => {
      if (isOver) return;
      isOver = true;
      caller.run(() => {
        done(result);
      }, life);
    };
    const isThrough = (): boolean => service.isUp && !this.isCut(caller.id, service.name);
    this.after(CALL_TIMEOUT_MS, () => {
      finish(undefined);
    });
    if (!isThrough()) return;
    this.after(this.chance.between(service.delay.min, service.delay.max), () => {
      if (!service.isUp) return;
      const result = work();
      this.after(this.chance.between(1, service.delay.min + 10), () => {
        if (isThrough()) finish(result);
      });
    });
  }
}

export interface Call<T> {
  readonly work: () => T;
  readonly done: (result: T | undefined) => void;
}

/** What processes lean on: the metadata store, the log. */
export interface Service {
  readonly name: string;
  isUp: boolean;
  /** Of a request on its way. */
  delay: Delay;
}

function link(a: string, b: string): string {
  return a < b ? `${a}|${b}` : `${b}|${a}`;
}
