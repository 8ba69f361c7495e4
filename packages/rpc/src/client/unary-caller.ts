/**
 * Single calls to one other node, over a connection of their own. A connection that could not be made or broke is replaced with the
 * next call, so that gRPC's hidden waits hold nobody up and renewed certificates come into use.
 */

import { EngineError } from '@engine/domain';
import type { Clock } from '@engine/runtime';
import { status, type Client, type ClientUnaryCall, type ServiceError } from '@grpc/grpc-js';

import { isRefusal, onDown } from '../events.js';
import { introductionToMetadata, meet, type Introduction } from '../handshake.js';
import { REFUSED_RECONNECT_MS } from '../limits.js';
import type { RpcMethod } from '../method.js';
import { fromStatus } from '../status.js';
import type { Dialer } from './dialer.js';

export interface UnaryDependencies {
  readonly dialer: Dialer;
  readonly introduction: Introduction;
  readonly clock: Clock;
}

interface Refusal {
  readonly error: EngineError;
  /** Monotonic, ms. Until then nobody asks again: only an operator changes it. */
  readonly until: number;
}

export class UnaryCaller {
  readonly #address: string;
  readonly #dependencies: UnaryDependencies;
  readonly #open = new Set<ClientUnaryCall>();
  #client: Client | undefined;
  #refusal: Refusal | undefined;
  #isStopped = false;

  constructor(address: string, dependencies: UnaryDependencies) {
    this.#address = address;
    this.#dependencies = dependencies;
  }

  /**
   * Asks once; the answer has to come within `limitMs`. Rejects with EngineError: `unavailable` when the node cannot be reached in
   * time, `wrong-cluster` or `incompatible` when it does not fit, else what the node says.
   */
  ask<Request, Response>(
    method: RpcMethod<Request, Response>,
    request: Request,
    limitMs: number,
  ): Promise<Response> {
    const { introduction, clock, dialer } = this.#dependencies;
    const obstacle = this.#obstacle();
    if (obstacle !== undefined) return Promise.reject(obstacle);
    const client = (this.#client ??= dialer.dial(this.#address));
    const { path, requestSerialize, responseDeserialize } = method;
    return new Promise((resolve, reject) => {
      let misfit: EngineError | undefined;
      const call = client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        introductionToMetadata(introduction),
        { deadline: clock.now() + limitMs },
        (error, response) => {
          this.#open.delete(call);
          if (response !== undefined && misfit === undefined) resolve(response);
          else reject(this.#failed(client, error, misfit));
        },
      );
      this.#open.add(call);
      call.on('metadata', (metadata) => {
        try {
          meet(introduction, metadata);
          this.#refusal = undefined;
        } catch (error) {
          misfit = fromStatus(error);
          call.cancel();
        }
      });
    });
  }

  /** Open calls, and all later ones, are rejected as `unavailable`. */
  stop(): void {
    this.#isStopped = true;
    for (const call of this.#open) call.cancel();
    this.#client?.close();
    this.#client = undefined;
  }

  #obstacle(): EngineError | undefined {
    if (this.#isStopped) return new EngineError('unavailable', `${this.#address} is known no more`);
    const refusal = this.#refusal;
    const isFresh = refusal !== undefined && this.#dependencies.clock.monotonic() < refusal.until;
    return isFresh ? refusal.error : undefined;
  }

  #failed(
    client: Client,
    error: ServiceError | null,
    misfit: EngineError | undefined,
  ): EngineError {
    const stopped = this.#isStopped ? this.#obstacle() : undefined;
    if (stopped !== undefined) return stopped;
    const cause = misfit ?? fromStatus(error);
    if (isRefusal(cause)) this.#refused(cause);
    if (error?.code === status.UNAVAILABLE && this.#client === client) {
      this.#client = undefined;
      client.close();
    }
    return cause;
  }

  #refused(error: EngineError): void {
    onDown(this.#address, error, this.#refusal?.error.message !== error.message);
    const until = this.#dependencies.clock.monotonic() + REFUSED_RECONNECT_MS;
    this.#refusal = { error, until };
  }
}
