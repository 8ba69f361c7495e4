/**
 * Calls at a rate, or as fast as they are answered, and what came back. The cheapest client there is: it shares the machine.
 */

import { Agent, request, type IncomingMessage } from 'node:http';

const KEYS = 500;
/** Every so many calls goes to the service with steps; the others add to an object. */
const STEPS_EVERY = 4;

export interface TrafficOptions {
  readonly ingressUrl: string;
  /** Calls that are open at once, at most. */
  readonly connections: number;
}

export class Traffic {
  readonly #url: URL;
  readonly #connections: number;
  readonly #agent: Agent;
  readonly #added = new Map<string, number>();
  readonly #idle = Promise.withResolvers<undefined>();
  #calls = 0;
  #open = 0;
  #answers = 0;
  #errors: string[] = [];
  #perSecond = Infinity;
  #nextAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor({ ingressUrl, connections }: TrafficOptions) {
    this.#url = new URL(ingressUrl);
    this.#connections = connections;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
    this.#pump();
  }

  get answers(): number {
    return this.#answers;
  }

  get errors(): readonly string[] {
    return this.#errors;
  }

  /** What every object must hold in the end, if no call failed. */
  get added(): ReadonlyMap<string, number> {
    return this.#added;
  }

  /** Calls come at this rate from now on, at random moments; Infinity: one follows the other on each connection. */
  pace(perSecond: number): void {
    this.#perSecond = perSecond;
    this.#nextAt = performance.now();
    this.#pump();
  }

  /** Resolves when all calls are answered. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    if (this.#open > 0) await this.#idle.promise;
    this.#agent.destroy();
  }

  #pump(): void {
    clearTimeout(this.#timer);
    while (!this.#isStopped && this.#open < this.#connections && this.#isDue()) void this.#one();
    if (this.#isStopped || this.#open >= this.#connections) return;
    const pause = Math.max(0, this.#nextAt - performance.now());
    this.#timer = setTimeout(() => {
      this.#pump();
    }, pause);
  }

  /** Effects: the next call is due after a pause of random length. */
  #isDue(): boolean {
    const now = performance.now();
    if (now < this.#nextAt) return false;
    // What could not be offered in time is not offered later.
    if (this.#perSecond === Infinity) this.#nextAt = now;
    else this.#nextAt = Math.max(this.#nextAt, now - 100) + pauseMs(this.#perSecond);
    return true;
  }

  async #one(): Promise<void> {
    this.#calls += 1;
    this.#open += 1;
    const number = this.#calls;
    const isSteps = number % STEPS_EVERY === 0;
    const key = `k${String(number % KEYS)}`;
    const path = isSteps ? '/engine/call/Work/steps' : `/engine/call/Counter/${key}/add`;
    const problem = await this.#call(path, isSteps ? '3' : '1');
    this.#open -= 1;
    this.#answers += 1;
    if (problem !== undefined) this.#errors.push(`${path}: ${problem}`);
    else if (!isSteps) this.#added.set(key, (this.#added.get(key) ?? 0) + 1);
    if (this.#isStopped && this.#open === 0) this.#idle.resolve(undefined);
    this.#pump();
  }

  /** Undefined: it was answered as it should be. */
  #call(path: string, body: string): Promise<string | undefined> {
    return new Promise((resolve) => {
      const { hostname, port } = this.#url;
      const headers = { 'content-type': 'application/json', 'content-length': body.length };
      const options = { hostname, port, path, method: 'POST', agent: this.#agent, headers };
      const outgoing = request(options, (response: IncomingMessage) => {
        response.resume();
        response.once('end', () => {
          resolve(response.statusCode === 200 ? undefined : String(response.statusCode));
        });
        response.once('error', (error) => {
          resolve(String(error));
        });
      });
      outgoing.once('error', (error) => {
        resolve(String(error));
      });
      outgoing.end(body);
    });
  }
}

/** Between two arrivals of many independent callers. */
function pauseMs(perSecond: number): number {
  return (-Math.log(1 - Math.random()) * 1_000) / perSecond;
}
