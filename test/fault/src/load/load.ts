/** All callers of a run together. */

import type { Chance } from '../chance.js';
import type { History } from '../history/history.js';
import { Planner } from '../plan/planner.js';
import { AwakeableResolver } from './awakeable-resolver.js';
import { Caller } from './caller.js';
import { IngressClient } from './ingress-client.js';

export interface LoadOptions {
  readonly ingressUrls: readonly string[];
  readonly callers: number;
  /** Mean pause of a caller between two operations, ms. */
  readonly thinkMs: number;
  /** How long an operation is tried, ms. */
  readonly patienceMs: number;
}

export class Load {
  readonly #callers: readonly Caller[];
  readonly #resolver: AwakeableResolver;
  readonly #running: Promise<unknown>;

  /** Begins at once. Callers start with one ingress each, in turns. */
  constructor(options: LoadOptions, parts: { readonly chance: Chance; readonly history: History }) {
    const { chance, history } = parts;
    const { ingressUrls: urls, patienceMs, thinkMs } = options;
    const client = (first: number): IngressClient =>
      new IngressClient({ urls, first, patienceMs }, history);
    this.#resolver = new AwakeableResolver({
      client: client(0),
      chance: chance.branch('resolver'),
      history,
    });
    this.#callers = Array.from({ length: options.callers }, (_, number) => {
      const name = `c${String(number)}`;
      const own = chance.branch(name);
      const planner = new Planner(name, own.branch('plan'));
      return new Caller({ planner, client: client(number), history, chance: own, thinkMs });
    });
    this.#running = Promise.all(this.#callers.map((caller) => caller.run()));
  }

  get isResolved(): boolean {
    return this.#resolver.isIdle;
  }

  /** Resolves when no operation is open any more. */
  async stop(): Promise<void> {
    for (const caller of this.#callers) caller.stop();
    await this.#running;
  }
}
