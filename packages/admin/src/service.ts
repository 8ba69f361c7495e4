/** The admin as a service: a port and the routes behind it. Holds no state; the schema document is the cluster's. */

import { createUlidFactory, type Scheduler, type Service } from '@engine/runtime';
import type { AdminConfig } from './config-shape.js';
import type { AdminDependencies } from './context.js';
import { createDiscover } from './discovery/discover.js';
import { createApp } from './http/app.js';
import { Listener } from './http/listener.js';
import { InvocationOperations } from './invocation-operations.js';
import { log } from './logger.js';

export class Admin implements Service {
  readonly #scheduler: Scheduler;
  readonly #listener: Listener;

  constructor(config: AdminConfig, dependencies: AdminDependencies) {
    const { clock, random, scheduler, channel } = dependencies;
    const newUlid = createUlidFactory(clock, random);
    this.#scheduler = scheduler;
    const app = createApp({
      config,
      schemas: dependencies.schemas,
      invocations: dependencies.invocations,
      queries: dependencies.queries,
      isReady: dependencies.isReady,
      operations: new InvocationOperations({ channel, scheduler, newUlid }),
      discover: createDiscover({ clusterName: config.clusterName, scheduler, random }),
      clock,
      newUlid,
    });
    this.#listener = new Listener(config, app);
  }

  /** The port in use; for port 0 the one that the system chose. */
  get port(): number {
    return this.#listener.port;
  }

  /** Errors: RT0004 when the port is taken. */
  async start(): Promise<void> {
    await this.#listener.listen();
    log.info({ port: this.port }, 'admin listens');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener.stop(this.#scheduler);
  }
}
