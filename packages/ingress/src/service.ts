/** The ingress as a service: a port, the routes behind it, and what they lean on. Holds no durable state. */

import { createUlidFactory, type Scheduler, type Service } from '@engine/runtime';
import type { IngressConfig } from './config-shape.js';
import type { IngressContext, IngressDependencies } from './context.js';
import { Dispatcher } from './http/dispatcher.js';
import { Listener } from './http/listener.js';
import { InvocationIds } from './invocation-ids.js';
import { log } from './logger.js';
import { RequestIds } from './request-ids.js';
import { SchemaNews } from './schema-news.js';
import { Waiting } from './waiting.js';

export class Ingress implements Service {
  readonly #scheduler: Scheduler;
  readonly #waiting: Waiting;
  readonly #dispatcher: Dispatcher;
  readonly #listener: Listener;
  #isStarted = false;

  constructor(config: IngressConfig, dependencies: IngressDependencies) {
    const { hashes, clock, random, scheduler, schema, catchUp, isReady } = dependencies;
    this.#scheduler = scheduler;
    this.#waiting = new Waiting(dependencies);
    const context: IngressContext = {
      config,
      clock,
      hashes,
      schema,
      catchUp: catchUp && new SchemaNews(catchUp, scheduler).caughtUp,
      isReady,
      invocationIds: new InvocationIds({ hashes, random, ulid: createUlidFactory(clock, random) }),
      requestIds: new RequestIds(random),
      waiting: this.#waiting,
    };
    this.#listener = new Listener(config, (request, response) => {
      this.#dispatcher.handle(request, response);
    });
    this.#dispatcher = new Dispatcher(context, this.#listener.state);
  }

  /** The port in use; for port 0 the one that the system chose. */
  get port(): number {
    return this.#listener.port;
  }

  /** Requests in progress. */
  get openCount(): number {
    return this.#dispatcher.openCount;
  }

  /** Errors: RT0004 when the port is taken. */
  async start(): Promise<void> {
    await this.#listener.listen();
    this.#isStarted = true;
    log.info({ port: this.port }, 'ingress listens');
  }

  /** Effects: the listener closes at once; open requests get `stopGraceMs`, then their connections are cut without reply. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isStarted) return;
    this.#isStarted = false;
    const stopped = this.#listener.stop(this.#scheduler);
    this.#waiting.stop();
    await stopped;
  }
}
