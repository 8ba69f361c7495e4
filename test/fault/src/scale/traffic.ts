/** Calls without a pause, as many at once as told, and what came back. The cheapest client there is: it shares the machine. */

import { Agent, request, type IncomingMessage } from 'node:http';

const KEYS = 500;
/** Every so many calls goes to the service with steps; the others add to an object. */
const STEPS_EVERY = 4;

export class Traffic {
  readonly #url: URL;
  readonly #agent: Agent;
  readonly #added = new Map<string, number>();
  #calls = 0;
  #answers = 0;
  #errors: string[] = [];
  #isStopped = false;
  readonly #running: Promise<unknown>;

  constructor(url: string, connections: number) {
    this.#url = new URL(url);
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
    this.#running = Promise.all(Array.from({ length: connections }, () => this.#lane()));
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

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
    this.#agent.destroy();
  }

  async #lane(): Promise<void> {
    while (!this.#isStopped) {
      this.#calls += 1;
      const number = this.#calls;
      const isSteps = number % STEPS_EVERY === 0;
      const key = `k${String(number % KEYS)}`;
      const path = isSteps ? '/engine/call/Work/steps' : `/engine/call/Counter/${key}/add`;
      const problem = await this.#call(path, isSteps ? '3' : '1');
      this.#answers += 1;
      if (problem !== undefined) this.#errors.push(`${path}: ${problem}`);
      else if (!isSteps) this.#added.set(key, (this.#added.get(key) ?? 0) + 1);
    }
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
