/** One fault after the other, each drawn from the seed: strike, watch who serves again, heal, wait until all is whole. */

import { setTimeout as pause } from 'node:timers/promises';

import { waitUntil } from '@engine-test/support';

import type { Chance } from '../chance.js';
import type { Recorded } from '../history/event.js';
import type { History } from '../history/history.js';
import type { Probes, Watch } from '../probes/probes.js';
import type { System } from '../systems/system.js';
import { Deck } from './deck.js';
import type { Fault, Wound } from './fault.js';

const REST_MS_MAX = 1_500;
const SERVED_MS_MAX = 120_000;
const WHOLE_MS_MAX = 180_000;

export interface Outcome {
  readonly number: number;
  readonly fault: Fault;
  readonly what: string;
  /** What the fault is measured by, ms. Undefined: somebody was not served again. */
  readonly figureMs: number | undefined;
  /** The longest that a probe took until all was whole again, ms. */
  readonly slowestMs: number;
  /** Requests of callers that failed meanwhile, on ingresses that were not hit. */
  readonly failures: readonly string[];
  /** All was whole again within the limit. */
  readonly isWhole: boolean;
}

export interface CampaignOptions {
  readonly faults: readonly Fault[];
  readonly count: number;
  /** Called with each outcome. */
  readonly onOutcome: (outcome: Outcome) => void;
}

export class Campaign {
  readonly #options: CampaignOptions;
  readonly #parts: {
    readonly system: System;
    readonly probes: Probes;
    readonly history: History;
    readonly chance: Chance;
  };
  /** Hears of failed requests while a fault is looked at. */
  #onFailure: (entry: Extract<Recorded, { kind: 'failed' }>) => void = () => undefined;

  constructor(
    options: CampaignOptions,
    parts: {
      readonly system: System;
      readonly probes: Probes;
      readonly history: History;
      readonly chance: Chance;
    },
  ) {
    this.#options = options;
    this.#parts = parts;
    parts.history.onEntry((entry) => {
      if (entry.kind === 'failed') this.#onFailure(entry);
    });
  }

  /** Ends early when the system does not come back from a fault. */
  async run(): Promise<readonly Outcome[]> {
    const { system, chance } = this.#parts;
    const deck = new Deck(this.#options.faults, chance);
    const outcomes: Outcome[] = [];
    for (let number = 1; number <= this.#options.count; number += 1) {
      const fault = deck.draw(system);
      const outcome = await this.#one(number, fault);
      outcomes.push(outcome);
      this.#options.onOutcome(outcome);
      if (!outcome.isWhole) break;
      await pause(chance.between(0, REST_MS_MAX));
    }
    return outcomes;
  }

  async #one(number: number, fault: Fault): Promise<Outcome> {
    const { system, probes, history } = this.#parts;
    const failures: string[] = [];
    let spared: string | undefined;
    this.#onFailure = ({ url, reason, op }) => {
      if (url !== spared) failures.push(`${op} at ${url}: ${reason}`);
    };
    const note = (phase: 'struck' | 'healed' | 'recovered', what: string): void => {
      history.record({ kind: 'fault', number, name: fault.name, phase, what });
    };
    const began = performance.now();
    note('struck', 'begins');
    // Stories that take a while are watched from their beginning.
    using during = probes.watch();
    const wound = await fault.strike({ system, chance: this.#parts.chance, pause });
    spared = wound.ingressUrl;
    note('struck', wound.what);
    using after = probes.watch(wound.partitions, wound.ingressUrl);
    const sinceBlowMs = after.since - (wound.struckAt ?? began);
    const isServed = await this.#heal(wound, after);
    note('healed', wound.what);
    const isWhole = isServed && (await this.#untilWhole());
    note('recovered', isWhole ? 'whole' : 'not whole');
    this.#onFailure = () => undefined;
    return {
      number,
      fault,
      what: wound.what,
      figureMs: figureOf(fault, { after, during, sinceBlowMs }),
      slowestMs: during.slowestMs,
      failures: failures.filter((text) => spared === undefined || !text.includes(spared)),
      isWhole,
    };
  }

  /** True: all partitions that were hit have served again. */
  async #heal(wound: Wound, watch: Watch): Promise<boolean> {
    if (wound.lastsMs === 'until-served') await this.#served(watch);
    else await pause(wound.lastsMs);
    await wound.heal();
    return this.#served(watch);
  }

  async #served(watch: Watch): Promise<boolean> {
    return isWithin('all are served', () => watch.hasSucceeded, SERVED_MS_MAX);
  }

  /** Everything is there again, and everybody is served. */
  async #untilWhole(): Promise<boolean> {
    const { system, probes } = this.#parts;
    if (!(await isWithin('all is whole', () => system.isWhole(), WHOLE_MS_MAX))) return false;
    using watch = probes.watch();
    return await this.#served(watch);
  }
}

function figureOf(
  { figure }: Fault,
  measured: { readonly after: Watch; readonly during: Watch; readonly sinceBlowMs: number },
): number | undefined {
  const { after, during, sinceBlowMs } = measured;
  if (!after.hasSucceeded) return undefined;
  return figure === 'slowest' ? during.slowestMs : sinceBlowMs + after.firstSuccessMs;
}

async function isWithin(
  what: string,
  state: () => Promise<boolean> | boolean,
  limitMs: number,
): Promise<boolean> {
  try {
    await waitUntil(what, state, limitMs);
    return true;
  } catch {
    return false;
  }
}
