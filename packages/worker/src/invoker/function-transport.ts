/**
 * Exchanges with functions: the request is collected until it is closed, then the function is called, then its answer is read.
 * Nothing flows both ways at once.
 */

import type { Readable } from 'node:stream';

import type { DeploymentEndpoint } from '@engine/domain';
import {
  REQUEST_BODY_BYTES_MAX,
  type FunctionInvoker,
  type FunctionRequest,
  type FunctionResponse,
} from '@engine/lambda';
import type { Scheduler } from '@engine/runtime';

import type { Exchange, ExchangeListener, ExchangeRequest } from './deployment-transport.js';

export type FunctionEndpoint = Extract<DeploymentEndpoint, { kind: 'lambda' }>;

export class FunctionTransport {
  readonly #functions: FunctionInvoker;
  readonly #scheduler: Scheduler;

  constructor(functions: FunctionInvoker, scheduler: Scheduler) {
    this.#functions = functions;
    this.#scheduler = scheduler;
  }

  open(request: ExchangeRequest, endpoint: FunctionEndpoint, listener: ExchangeListener): Exchange {
    const { arn, assumeRoleArn, compression } = endpoint;
    const { path, headers } = request;
    const call = { arn, assumeRoleArn, compression, method: 'POST', path, headers } as const;
    const start = (body: Uint8Array, signal: AbortSignal): Promise<FunctionResponse> =>
      this.#functions.invoke({ ...call, body, signal } satisfies FunctionRequest);
    return new FunctionExchange(start, listener, this.#scheduler);
  }
}

type Start = (body: Uint8Array, signal: AbortSignal) => Promise<FunctionResponse>;

class FunctionExchange implements Exchange {
  readonly #start: Start;
  readonly #scheduler: Scheduler;
  readonly #abort = new AbortController();
  /** Undefined once the exchange has ended, failed or been reset: nothing is reported any more. */
  #listener: ExchangeListener | undefined;
  /** The request so far; empty when it is too large or under way. */
  #chunks: Uint8Array[] = [];
  #sizeBytes = 0;
  #isClosed = false;
  #isPaused = false;
  #body: Readable | undefined;

  constructor(start: Start, listener: ExchangeListener, scheduler: Scheduler) {
    this.#start = start;
    this.#listener = listener;
    this.#scheduler = scheduler;
  }

  write(bytes: Uint8Array): void {
    if (this.#isClosed || this.#listener === undefined) return;
    this.#sizeBytes += bytes.length;
    if (this.#sizeBytes > REQUEST_BODY_BYTES_MAX) this.#chunks = [];
    else this.#chunks.push(bytes);
  }

  closeRequest(): void {
    if (this.#isClosed || this.#listener === undefined) return;
    this.#isClosed = true;
    if (this.#sizeBytes > REQUEST_BODY_BYTES_MAX) {
      this.#scheduler.immediate(this.#refuseSize);
      return;
    }
    const body = Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#start(body, this.#abort.signal).then(
      (response) => {
        this.#onResponse(response);
      },
      (error: unknown) => {
        this.#fail(error);
      },
    );
  }

  reset(): void {
    this.#listener = undefined;
    this.#chunks = [];
    this.#abort.abort();
    this.#body?.destroy();
  }

  pause(): void {
    this.#isPaused = true;
    this.#body?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#body?.resume();
  }

  /** Nobody takes that much: the same as if the function had said so. */
  readonly #refuseSize = (): void => {
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.onHead(413, {});
    listener?.onEnd();
  };

  #onResponse({ status, headers, body }: FunctionResponse): void {
    if (this.#listener === undefined) {
      body.destroy();
      return;
    }
    this.#body = body;
    body.on('data', (chunk: Uint8Array) => {
      this.#listener?.onData(chunk);
    });
    body.on('end', () => {
      const listener = this.#listener;
      this.#listener = undefined;
      listener?.onEnd();
    });
    body.on('error', (error) => {
      this.#fail(error);
    });
    body.on('close', () => {
      this.#fail('the answer was cut off');
    });
    if (this.#isPaused) body.pause();
    this.#listener.onHead(status, headers);
  }

  #fail(error: unknown): void {
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.onError(error instanceof Error ? error.message : String(error));
  }
}
