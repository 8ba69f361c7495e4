/** Completes each awakeable that a handler tells of, once, a moment later, and until the engine has taken it. */

import { setTimeout as pause } from 'node:timers/promises';

import type { Chance } from '../chance.js';
import type { History } from '../history/history.js';
import { tokenOf } from '../plan/operation.js';
import type { IngressClient } from './ingress-client.js';

const PAUSE_MS_MAX = 400;

export class AwakeableResolver {
  readonly #client: IngressClient;
  readonly #chance: Chance;
  readonly #history: History;
  readonly #known = new Set<string>();
  #open = 0;

  constructor(parts: {
    readonly client: IngressClient;
    readonly chance: Chance;
    readonly history: History;
  }) {
    this.#client = parts.client;
    this.#chance = parts.chance;
    this.#history = parts.history;
    parts.history.onEntry((entry) => {
      if (entry.kind === 'awaits') void this.#resolve(entry.op, entry.awakeable);
    });
  }

  /** True: everything that was told is completed. */
  get isIdle(): boolean {
    return this.#open === 0;
  }

  async #resolve(op: string, awakeable: string): Promise<void> {
    if (this.#known.has(awakeable)) return;
    this.#known.add(awakeable);
    this.#open += 1;
    await pause(this.#chance.between(0, PAUSE_MS_MAX));
    const answer = await this.#client.ask({
      op,
      path: `awakeables/${awakeable}/resolve`,
      body: tokenOf(op),
      isRepeatable: true,
    });
    this.#open -= 1;
    if (answer.kind === 'answered' && answer.status === 202) return;
    const status = answer.kind === 'answered' ? answer.status : 0;
    this.#history.record({ kind: 'refused', op, status, body: JSON.stringify(answer) });
  }
}
