/** Speaks to each deployment in the way in which it is registered, and signs what it asks if there is a key. */

import type { FunctionInvoker } from '@engine/lambda';
import type { RequestSigner } from '@engine/request-identity';
import type { Clock, Scheduler } from '@engine/runtime';
import { assertNever } from '@engine/stdx';

import type {
  DeploymentTransport,
  Exchange,
  ExchangeListener,
  ExchangeRequest,
} from './deployment-transport.js';
import { FunctionTransport } from './function-transport.js';
import { HttpTransport } from './http-transport.js';

export interface EndpointTransportDependencies {
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly functions: FunctionInvoker;
  /** Undefined: requests are not signed. */
  readonly signer: RequestSigner | undefined;
}

export class EndpointTransport implements DeploymentTransport, Disposable {
  readonly #http: HttpTransport;
  readonly #functions: FunctionTransport;
  readonly #signer: RequestSigner | undefined;

  constructor({ clock, scheduler, functions, signer }: EndpointTransportDependencies) {
    this.#http = new HttpTransport(clock, scheduler);
    this.#functions = new FunctionTransport(functions, scheduler);
    this.#signer = signer;
  }

  open(request: ExchangeRequest, listener: ExchangeListener): Exchange {
    const { endpoint } = request.deployment;
    const signed = this.#signer === undefined ? request : withSignature(request, this.#signer);
    switch (endpoint.kind) {
      case 'http':
        return this.#http.open(signed, endpoint, listener);
      case 'lambda':
        return this.#functions.open(signed, endpoint, listener);
      default:
        return assertNever(endpoint);
    }
  }

  /** Breaks every connection over HTTP. */
  [Symbol.dispose](): void {
    this.#http[Symbol.dispose]();
  }
}

/** Over whatever a deployment was registered with: it must not be able to hide the signature. */
function withSignature(request: ExchangeRequest, signer: RequestSigner): ExchangeRequest {
  const signature = signer.sign(request.path, request.serviceKey);
  return { ...request, headers: { ...request.headers, ...signature } };
}
