/**
 * A long-lived stream between two processes, as gRPC gives it: in order both ways, and broken for good once something on it was lost.
 * Each end learns of the break by itself: soon when the other process died, after a while when nothing comes through any more.
 */

import type { Chance } from '../simulator/chance.js';
import type { EventLoop } from '../simulator/event-loop.js';
import type { ServerProcess } from '../simulator/process.js';
import type { Links } from './links.js';

/** A process at one end, by its name on the network. */
export interface StreamEnd {
  readonly id: string;
  readonly process: ServerProcess;
}

export interface StreamSurroundings {
  readonly loop: EventLoop;
  readonly chance: Chance;
  readonly links: Links;
}

/** The other end is asked for a sign of life so often, and given up when none came by the next time. */
const KEEPALIVE_MS = 5_000;

/** The break of a process that died is told after so long at most. */
const RESET_MS_MAX = 60;

/** Distance of two messages that would arrive at once; keeps them in order. */
const STEP_MS = 0.000_01;

interface Side {
  readonly end: StreamEnd;
  /** When the last message to this end arrives. */
  lastAt: number;
  onBroken: () => void;
  isTold: boolean;
}

export class SimStream {
  readonly #surroundings: StreamSurroundings;
  readonly #sides: readonly [Side, Side];
  /** Something was lost, or an end is gone: nothing passes any more. */
  #isDoomed = false;

  constructor(client: StreamEnd, server: StreamEnd, surroundings: StreamSurroundings) {
    this.#surroundings = surroundings;
    this.#sides = [side(client), side(server)];
    for (const { end } of this.#sides) {
      end.process.died.addEventListener('abort', () => {
        this.#doom(RESET_MS_MAX);
      });
    }
    surroundings.links.watch(() => {
      if (this.#isCut) this.#doom(2 * KEEPALIVE_MS);
    });
    this.#keepAlive();
  }

  /** `onBroken` is called once, in the process of that end. */
  onBroken(process: ServerProcess, onBroken: () => void): void {
    const own = this.#sides.find(({ end }) => end.process === process);
    if (own !== undefined) own.onBroken = onBroken;
  }

  /** `arrive` runs in the other process, after all that was sent there before. */
  send(from: ServerProcess, arrive: () => void): void {
    const { loop, links } = this.#surroundings;
    const to = this.#sides.find(({ end }) => end.process !== from);
    if (to === undefined || this.#isDoomed) return;
    if (this.#isCut) {
      this.#doom(2 * KEEPALIVE_MS);
      return;
    }
    to.lastAt = Math.max(to.lastAt + STEP_MS, loop.now + links.delay());
    const enter = to.end.process.guarded(arrive);
    loop.at(to.lastAt, () => {
      if (!this.#isDoomed) enter();
    });
  }

  /** One end closes it. */
  close(by: ServerProcess): void {
    for (const each of this.#sides) if (each.end.process === by) each.isTold = true;
    this.#doom(RESET_MS_MAX);
  }

  get #isCut(): boolean {
    const [client, server] = this.#sides;
    return this.#surroundings.links.isCut(client.end.id, server.end.id);
  }

  #doom(noticeMsMax: number): void {
    if (this.#isDoomed) return;
    this.#isDoomed = true;
    const { loop, chance } = this.#surroundings;
    for (const each of this.#sides) {
      const tell = each.end.process.guarded(() => {
        if (each.isTold) return;
        each.isTold = true;
        each.onBroken();
      });
      loop.after(chance.float() * noticeMsMax, tell);
    }
  }

  /** A process that is frozen gives no sign of life. */
  #keepAlive(): void {
    this.#surroundings.loop.after(KEEPALIVE_MS, () => {
      if (this.#isDoomed) return;
      const isSilent = this.#sides.some(
        ({ end: { process } }) => process.isFrozen && process.frozenForMs >= KEEPALIVE_MS,
      );
      if (isSilent) this.#doom(0);
      else this.#keepAlive();
    });
  }
}

function side(end: StreamEnd): Side {
  return { end, lastAt: 0, onBroken: () => undefined, isTold: false };
}
