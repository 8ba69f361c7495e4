/** All connections of a simulated world to its deployments. */

import type { DeploymentTransport, Exchange } from '@engine/worker';

import type { ServerProcess } from '../simulator/process.js';
import { SimExchange, type ExchangeDependencies } from './sim-exchange.js';

const NO_EXCHANGE: Exchange = {
  write: () => undefined,
  closeRequest: () => undefined,
  reset: () => undefined,
  pause: () => undefined,
  resume: () => undefined,
};

export class DeploymentFleet {
  readonly #dependencies: ExchangeDependencies;
  readonly #open = new Set<SimExchange>();
  #count = 0;

  constructor(dependencies: ExchangeDependencies) {
    this.#dependencies = dependencies;
  }

  /** The door of one server process to all deployments. */
  transportFor(process: ServerProcess): DeploymentTransport {
    return {
      open: (request, listener) => {
        if (!process.stepOutward()) return NO_EXCHANGE;
        this.#count += 1;
        const opening = { number: this.#count, process, request, listener };
        const exchange = new SimExchange(opening, this.#dependencies, () => {
          this.#open.delete(exchange);
        });
        this.#open.add(exchange);
        exchange.begin();
        return exchange;
      },
    };
  }

  /** The server process is dead: handlers notice sooner or later. */
  processDied(process: ServerProcess): void {
    for (const exchange of [...this.#open]) exchange.serverDied(process);
  }
}
