import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EngineError } from '@engine/domain';
import type { Scheduler } from '@engine/runtime';
import { STOP_GRACE_MS } from '../limits.js';

export interface ListenerOptions {
  readonly bindIp: string;
  /** 0 = any free port. */
  readonly bindPort: number;
}

const NO_IPV6 = new Set<string | undefined>(['EAFNOSUPPORT', 'EADDRNOTAVAIL']);

/** The port of the admin. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #server: Server;

  constructor(options: ListenerOptions, onRequest: RequestListener) {
    this.#options = options;
    this.#server = createServer(onRequest);
  }

  /** The port in use; 0 while not listening. */
  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? 0;
  }

  /** Errors: RT0004 when the address cannot be bound. */
  async listen(): Promise<void> {
    const { bindIp, bindPort } = this.#options;
    try {
      await this.#bind(bindIp);
    } catch (error) {
      if (bindIp !== '::' || !NO_IPV6.has(codeOf(error)))
        throw bindError(`${bindIp}:${String(bindPort)}`, error);
      await this.#bind('0.0.0.0').catch((second: unknown) => {
        throw bindError(`0.0.0.0:${String(bindPort)}`, second);
      });
    }
  }

  /** Stops listening; requests in progress get a moment, then their connections are cut. */
  async stop(scheduler: Scheduler): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeIdleConnections();
    const limit = scheduler.after(STOP_GRACE_MS, () => {
      this.#server.closeAllConnections();
    });
    await closed;
    limit.cancel();
  }

  async #bind(host: string): Promise<void> {
    const listening = once(this.#server, 'listening');
    this.#server.listen({ host, port: this.#options.bindPort });
    await listening;
  }
}

function bindError(address: string, cause: unknown): EngineError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `the admin cannot bind to ${address}: ${reason}`;
  return new EngineError('RT0004', message, { cause, details: { address } });
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
