/** Everything that is checked of attempts, in the order in which it is told to those who look. */

import type { ExchangeFault } from '../deployment/exchange-fault.js';
import type { SdkFrame } from '../deployment/frames.js';
import type { HandlerObserver } from '../deployment/handler-machine.js';
import type { ExchangeFacts, ExchangeObserver } from '../deployment/sim-exchange.js';
import { EPOCH_MS } from '../simulator/event-loop.js';
import type { Lab } from '../workloads/lab.js';
import type { DurabilityChecker } from './durability.js';
import type { EffectsChecker } from './effects.js';
import type { ExclusivityChecker } from './exclusivity.js';
import type { OverlapChecker } from './overlap.js';
import type { PausesChecker } from './pauses.js';

export interface AttemptChecksDependencies {
  readonly lab: Lab;
  readonly note: (text: string) => void;
  readonly durability: DurabilityChecker;
  readonly effects: EffectsChecker;
  readonly exclusivity: ExclusivityChecker;
  readonly pauses: PausesChecker;
  /** Where there are several processes. */
  readonly overlap?: OverlapChecker;
}

export class AttemptChecks implements ExchangeObserver {
  readonly #dependencies: AttemptChecksDependencies;
  /** Attempts of processes that may not know that they are counted dead: nothing is expected of them. */
  readonly #unheard = new Set<number>();

  constructor(dependencies: AttemptChecksDependencies) {
    this.#dependencies = dependencies;
  }

  opened(facts: ExchangeFacts, fault: ExchangeFault): void {
    const { note, overlap, effects, pauses, exclusivity } = this.#dependencies;
    note(
      `attempt ${exchangeText(facts)} in ${facts.process.name} v${String(facts.version)} fault ${fault.kind}`,
    );
    overlap?.opened(facts, facts.process);
    if (overlap?.isZombie(facts.process) === true) {
      this.#unheard.add(facts.number);
      return;
    }
    effects.opened(facts);
    pauses.opened(facts);
    exclusivity.opened(facts);
  }

  written(facts: ExchangeFacts, frame: SdkFrame): void {
    this.#dependencies.note(`frame ${String(facts.number)} >> ${frame.type.toString(16)}`);
    if (!this.#unheard.has(facts.number)) this.#dependencies.durability.written(facts, frame);
  }

  over(facts: ExchangeFacts): void {
    const { note, overlap } = this.#dependencies;
    note(`over ${String(facts.number)}`);
    overlap?.over(facts);
    this.#close(facts);
  }

  /** What runs there is not heard any more, by a process that will be counted dead. */
  unheard(attempts: readonly ExchangeFacts[]): void {
    for (const facts of attempts) {
      this.#unheard.add(facts.number);
      this.#close(facts);
    }
  }

  handlerObserver(facts: ExchangeFacts): HandlerObserver {
    const { lab, note, effects } = this.#dependencies;
    return {
      started: ({ knownEntries }) => {
        note(`handler ${String(facts.number)} knows ${String(knownEntries)}`);
      },
      violation: (text) => {
        lab.violation(`${exchangeText(facts)} ${text}`);
      },
      runExecuted: (_id, completionId, name) => {
        note(`run ${String(facts.number)} ${name}`);
        if (!this.#unheard.has(facts.number)) effects.runExecuted(facts, completionId, name);
      },
      woke: (id, wakeUpTime) => {
        const now = EPOCH_MS + lab.loop.now;
        lab.expectTime(now, wakeUpTime, () => `${id} woke up before its time`);
      },
      suspended: () => {
        note(`suspends ${String(facts.number)}`);
      },
    };
  }

  #close(facts: ExchangeFacts): void {
    this.#dependencies.exclusivity.over(facts);
    this.#dependencies.pauses.over(facts);
  }
}

export function exchangeText(facts: ExchangeFacts): string {
  const { number, invocationId, service, handler, key } = facts;
  return `${String(number)} ${invocationId} ${service}/${key === undefined ? '' : `${key}/`}${handler}`;
}
