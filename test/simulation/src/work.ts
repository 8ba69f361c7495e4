/** The callers of a run: they share a number of operations, and whoever runs them waits for their ends. */

import type { Plan } from './plan.js';
import type { Chance } from './simulator/chance.js';
import type { EventLoop } from './simulator/event-loop.js';
import type { Trace } from './simulator/trace.js';
import type { Client } from './workloads/client.js';
import type { Lab } from './workloads/lab.js';
import { OPERATIONS, type OperationName } from './workloads/operations.js';
import { Tally } from './workloads/tally.js';

/** With more broken promises than this a run is given up. */
const VIOLATIONS_MAX = 5;

export interface WorkDependencies {
  readonly plan: Plan;
  readonly chance: Chance;
  readonly loop: EventLoop;
  readonly lab: Lab;
  readonly client: Client;
  readonly trace: Trace;
}

export class Work {
  readonly #dependencies: WorkDependencies;
  readonly #tally: Tally;
  readonly #open = new Set<string>();
  #started = 0;

  constructor(dependencies: WorkDependencies) {
    this.#dependencies = dependencies;
    this.#tally = new Tally(dependencies.lab);
  }

  begin(): void {
    for (let caller = 0; caller < this.#dependencies.plan.callers; caller += 1) {
      this.#startCaller(caller);
    }
  }

  /** False when the run is over: too much is broken, or the operations do not come to an end before `until` (virtual ms). */
  untilDone(until: number): Promise<boolean> {
    const { operations } = this.#dependencies.plan;
    return this.runUntil('every operation ends', until, () => {
      return this.#started >= operations && this.#open.size === 0;
    });
  }

  /** Reads every object and compares. As `untilDone` otherwise. */
  untilCounted(until: number): Promise<boolean> {
    return this.untilSettled('the look at the objects', until, () =>
      this.#tally.check(this.#dependencies.client, until),
    );
  }

  /** Runs events until the work is done. As `untilDone` otherwise. */
  async untilSettled(what: string, until: number, work: () => Promise<void>): Promise<boolean> {
    let isDone = false;
    work().then(
      () => {
        isDone = true;
      },
      (error: unknown) => {
        this.#dependencies.lab.violation(`${what}: ${String(error)}`);
      },
    );
    return this.runUntil(what, until, () => isDone);
  }

  /** Runs events until it holds. As `untilDone` otherwise. */
  async runUntil(what: string, until: number, isDone: () => boolean): Promise<boolean> {
    const { loop, lab } = this.#dependencies;
    const isOver = (): boolean => lab.violations.length > VIOLATIONS_MAX;
    const end = await loop.run(until, () => isOver() || isDone());
    if (isOver()) return false;
    if (end === 'done') return true;
    const open = [...this.#open].slice(0, 5).join(', ');
    lab.violation(`progress: ${end} before ${what}${open === '' ? '' : `; open: ${open}`}`);
    return false;
  }

  report(found: readonly string[]): void {
    for (const text of found) this.#dependencies.lab.violation(text);
  }

  #startCaller(caller: number): void {
    const { chance, lab, loop } = this.#dependencies;
    const own = chance.branch(`caller ${String(caller)}`);
    const work = async (): Promise<void> => {
      while (this.#started < this.#dependencies.plan.operations) {
        await loop.sleep(own.delay(20, 3_000));
        if (this.#started < this.#dependencies.plan.operations) await this.#operate(own);
      }
    };
    work().catch((error: unknown) => {
      lab.violation(
        `a caller gave up: ${error instanceof Error ? (error.stack ?? '') : String(error)}`,
      );
    });
  }

  async #operate(chance: Chance): Promise<void> {
    const { plan, client, lab, trace, loop } = this.#dependencies;
    const name = chance.weighted<OperationName>(plan.mix);
    this.#started += 1;
    const tag = `${name}-${String(this.#started)}`;
    this.#open.add(tag);
    trace.add(loop.now, `begin ${tag}`);
    await OPERATIONS[name]({ client, chance, lab, tally: this.#tally, tag });
    trace.add(loop.now, `end ${tag}`);
    this.#open.delete(tag);
  }
}
