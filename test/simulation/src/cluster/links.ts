/** The network of a cluster: what is sent takes its time, may be lost, and does not get through where a link is cut. */

import { EngineError } from '@engine/domain';

import type { Chance } from '../simulator/chance.js';
import type { EventLoop } from '../simulator/event-loop.js';
import type { ServerProcess } from '../simulator/process.js';

/** Somebody at the end of a link: a process of this name, while one lives. */
export interface Station {
  readonly id: string;
  /** Undefined while none runs. */
  readonly process: ServerProcess | undefined;
}

export interface LinkFaults {
  /** Share of messages that never arrive. Streams do not lose messages: they break. */
  loss: number;
  /** Typical and longest way, ms. */
  delayMs: number;
  delayMsMax: number;
}

/** How a question goes from one process to another, and its answer back. */
interface Question<T> {
  readonly from: Station;
  readonly to: Station;
  /** Without an answer for so long it is given up. */
  readonly limitMs: number;
  /** Runs in the process that is asked. */
  readonly ask: () => Promise<T>;
}

export class Links {
  readonly #loop: EventLoop;
  readonly #chance: Chance;
  readonly #faults: LinkFaults;
  readonly #cuts = new Set<string>();
  readonly #watchers = new Set<() => void>();

  constructor(dependencies: {
    readonly loop: EventLoop;
    readonly chance: Chance;
    readonly faults: LinkFaults;
  }) {
    this.#loop = dependencies.loop;
    this.#chance = dependencies.chance;
    this.#faults = dependencies.faults;
  }

  /** Nothing passes between the two any more, either way. */
  cut(a: string, b: string): void {
    this.#cuts.add(nameOf(a, b));
    this.#changed();
  }

  mend(a: string, b: string): void {
    this.#cuts.delete(nameOf(a, b));
    this.#changed();
  }

  mendAll(): void {
    this.#cuts.clear();
    this.#changed();
  }

  isCut(a: string, b: string): boolean {
    return this.#cuts.has(nameOf(a, b));
  }

  /** `onChange` is called after links were cut or mended. */
  watch(onChange: () => void): void {
    this.#watchers.add(onChange);
  }

  /** How long the next message takes. */
  delay(): number {
    return this.#chance.delay(this.#faults.delayMs, this.#faults.delayMsMax);
  }

  /** One message: `arrive` runs in the process that lives there now, if it still does. */
  send(from: Station, to: Station, arrive: () => void): void {
    const receiver = to.process;
    const isLost = this.#chance.happens(this.#faults.loss);
    const delayMs = this.delay();
    if (receiver === undefined || isLost || this.isCut(from.id, to.id)) return;
    const enter = receiver.guarded(arrive);
    this.#loop.after(delayMs, () => {
      if (!this.isCut(from.id, to.id)) enter();
    });
  }

  /**
   * A call with a deadline. Rejects with EngineError `unavailable` when there is no answer in time, at once when nobody listens
   * there.
   */
  ask<T>({ from, to, limitMs, ask }: Question<T>): Promise<T> {
    const caller = from.process;
    return new Promise((resolve, reject) => {
      if (caller === undefined) return;
      const failed = (): void => {
        reject(new EngineError('unavailable', `${to.id} cannot be reached`));
      };
      this.#loop.after(limitMs, caller.guarded(failed));
      if (to.process === undefined && !this.isCut(from.id, to.id)) {
        this.#loop.after(this.delay(), caller.guarded(failed));
        return;
      }
      this.send(from, to, () => {
        const answer = (settle: () => void): void => {
          if (from.process === caller) this.send(to, from, settle);
        };
        ask().then(
          (result) => {
            answer(() => {
              resolve(result);
            });
          },
          (error: unknown) => {
            answer(() => {
              reject(error instanceof Error ? error : new Error(String(error)));
            });
          },
        );
      });
    });
  }

  #changed(): void {
    for (const onChange of this.#watchers) onChange();
  }
}

function nameOf(a: string, b: string): string {
  return a < b ? `${a}|${b}` : `${b}|${a}`;
}
