/** The admin as a service: a port and the routes behind it. Holds no state of its own; its documents are the cluster's. */

import { createUlidFactory, type Scheduler, type Service } from '@engine/runtime';
import type { BatchOperations } from './batch/batch-operations.js';
import { createBatchOperations } from './batch/create.js';
import { LoneNode } from './cluster/lone-node.js';
import type { AdminConfig } from './config-shape.js';
import type { AdminDependencies } from './context.js';
import { createDiscover } from './discovery/discover.js';
import { createApps } from './http/app.js';
import { Listener } from './http/listener.js';
import { InvocationOperations } from './invocation-operations.js';
import { log } from './logger.js';
import { createConvert } from './serdes/convert.js';
import { StateOperations } from './state-operations.js';

export class Admin implements Service {
  readonly #scheduler: Scheduler;
  readonly #listener: Listener;
  readonly #batches: BatchOperations;

  constructor(config: AdminConfig, dependencies: AdminDependencies) {
    const { clock, random, scheduler, channel } = dependencies;
    const newUlid = createUlidFactory(clock, random);
    this.#scheduler = scheduler;
    const operations = new InvocationOperations({ channel, scheduler, newUlid });
    this.#batches = createBatchOperations({ ...dependencies, operations, newUlid });
    const apps = createApps({
      config,
      schemas: dependencies.schemas,
      invocations: dependencies.invocations,
      queries: dependencies.queries,
      isReady: dependencies.isReady,
      operations,
      batches: this.#batches,
      cluster: dependencies.cluster ?? new LoneNode({ clusterName: config.clusterName }),
      states: new StateOperations({ channel, scheduler, newUlid }),
      discover: createDiscover({ ...dependencies, clusterName: config.clusterName }),
      convert: createConvert({ ...dependencies, clusterName: config.clusterName }),
      clock,
      newUlid,
    });
    this.#listener = new Listener(config, apps);
  }

  /** The port in use; for port 0 the one that the system chose. */
  get port(): number {
    return this.#listener.port;
  }

  /** Errors: RT0004 when the port is taken. Then nothing is begun. */
  async start(): Promise<void> {
    await this.#batches.load();
    await this.#listener.listen();
    await this.#batches.start();
    log.info({ port: this.port }, 'admin listens');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener.stop(this.#scheduler);
    await this.#batches[Symbol.asyncDispose]();
  }
}
