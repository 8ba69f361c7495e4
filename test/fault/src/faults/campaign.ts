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

type Failed = Extract<Recorded, { kind: 'failed' }>;

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
  /** Why it was not all right again; undefined: it was. */
  readonly problem: string | undefined;
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
  #onFailure: (entry: Failed) => void = () => undefined;

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
      if (outcome.problem !== undefined) break;
      await pause(chance.between(0, REST_MS_MAX));
    }
    return outcomes;
  }

  async #one(number: number, fault: Fault): Promise<Outcome> {
    const { probes, history } = this.#parts;
    const failures: Failed[] = [];
    this.#onFailure = (entry) => {
      failures.push(entry);
    };
    const note = (phase: 'struck' | 'healed' | 'recovered', what: string): void => {
      history.record({ kind: 'fault', number, name: fault.name, phase, what });
    };
    const began = performance.now();
    note('struck', 'begins');
    // Stories of which nobody should notice anything are watched from their beginning.
    using during = fault.figure === 'slowest' ? probes.watch() : undefined;
    const wound = await this.#strike(fault);
    note('struck', wound.what);
    using after = probes.watch(wound.partitions, wound.ingressUrl);
    const sinceBlowMs = after.since - (wound.struckAt ?? began);
    const healed = (): void => {
      note('healed', wound.what);
    };
    const problem = (await this.#heal(wound, after, healed)) ?? (await this.#untilWhole());
    note('recovered', problem ?? 'whole');
    this.#onFailure = () => undefined;
    // Who calls an ingress that was hit waits for it; the others must not.
    const { slowestMs } = wound.ingressUrl === undefined ? (during ?? after) : after;
    return {
      number,
      fault,
      what: wound.what,
      problem,
      figureMs: figureOf(fault, { after, slowestMs, sinceBlowMs }),
      slowestMs,
      failures: failures
        .filter(({ url }) => url !== wound.ingressUrl)
        .map(({ op, url, reason }) => `${op} at ${url}: ${reason}`),
    };
  }

  /** A story that can't be told to its end ends the campaign. */
  async #strike(fault: Fault): Promise<Wound> {
    try {
      return await fault.strike({ system: this.#parts.system, chance: this.#parts.chance, pause });
    } catch (error) {
      const heal = (): Promise<void> => Promise.reject(error as Error);
      return { what: 'the story broke off', lastsMs: 0, heal };
    }
  }

  /** Until all partitions that were hit have served again. Gives what went wrong. */
  async #heal(wound: Wound, watch: Watch, healed: () => void): Promise<string | undefined> {
    if (wound.lastsMs === 'until-served') await served(watch);
    else await pause(wound.lastsMs);
    try {
      await wound.heal();
      healed();
    } catch (error) {
      return String(error);
    }
    return served(watch);
  }

  /** Everything is there again, and everybody is served. Gives what is missing. */
  async #untilWhole(): Promise<string | undefined> {
    const { system, probes } = this.#parts;
    const missing = await within('all is whole', () => system.isWhole(), WHOLE_MS_MAX);
    if (missing !== undefined) return missing;
    using watch = probes.watch();
    return await served(watch);
  }
}

function served(watch: Watch): Promise<string | undefined> {
  return within('all are served', () => watch.hasSucceeded, SERVED_MS_MAX);
}

function figureOf(
  { figure }: Fault,
  measured: {
    readonly after: Watch;
    readonly slowestMs: number;
    readonly sinceBlowMs: number;
  },
): number | undefined {
  const { after, slowestMs, sinceBlowMs } = measured;
  if (!after.hasSucceeded) return undefined;
  return figure === 'slowest' ? slowestMs : sinceBlowMs + after.firstSuccessMs;
}

/** Undefined: it came true in time. */
async function within(
  what: string,
  state: () => Promise<boolean> | boolean,
  limitMs: number,
): Promise<string | undefined> {
  try {
    await waitUntil(what, state, limitMs);
    return undefined;
  } catch (error) {
    return String(error);
  }
}
