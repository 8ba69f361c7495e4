/** Requests to partitions as ingress makes them, and what came back. */

import {
  composeInvocationId,
  derivePartitionKey,
  targetKind,
  type Hashes,
  type InvocationId,
  type InvocationTarget,
  type PartitionAnswer,
  type PartitionRequest,
  type SchemaLookup,
} from '@engine/domain';
import { createUlidFactory, type Clock, type Random } from '@engine/runtime';
import { decodeUtf8, encodeUtf8 } from '@engine/stdx';

export interface RequestMakerDependencies {
  readonly schema: () => SchemaLookup;
  readonly hashes: Hashes;
  readonly random: Random;
  readonly clock: Clock;
}

export class RequestMaker {
  readonly #dependencies: RequestMakerDependencies;
  #requests = 0;

  constructor(dependencies: RequestMakerDependencies) {
    this.#dependencies = dependencies;
  }

  /** Id of the next request. */
  nextId(): string {
    this.#requests += 1;
    return `request-${String(this.#requests)}`;
  }

  /** An invocation of `Service/handler` or `Service/key/handler`. */
  invocation(text: string, payload: string) {
    const { hashes, random, clock } = this.#dependencies;
    const target = this.#target(text);
    const { service: name, key } = target;
    const bucket = Math.floor(random.float() * 512);
    const partitionKey = derivePartitionKey({ service: name, key }, hashes, bucket);
    const id = composeInvocationId(partitionKey, createUlidFactory(clock, random)());
    return {
      id,
      target,
      headers: [],
      payload: encodeUtf8(payload),
      idempotencyKey: undefined,
      executionTime: undefined,
      completionRetentionMs: 86_400_000,
      journalRetentionMs: 86_400_000,
    };
  }

  #target(text: string): InvocationTarget {
    const parts = text.split('/');
    const [name = '', handlerName = parts[2] ?? ''] = [parts[0], parts.at(-1)];
    const resolved = this.#dependencies.schema().handler(name, handlerName);
    if (resolved === undefined) throw new Error(`no handler ${text}`);
    const key = parts.length === 3 ? parts[1] : undefined;
    const kind = targetKind(resolved.service, resolved.handler);
    return { kind, service: name, key, handler: handlerName };
  }
}

/** A request and what came back. */
export class Asked {
  readonly request: PartitionRequest;
  readonly answers: PartitionAnswer[] = [];

  constructor(request: PartitionRequest) {
    this.request = request;
  }

  get invocationId(): InvocationId {
    const { request } = this;
    if (request.kind === 'invoke') return request.invocation.id;
    if (request.kind === 'replace-state') throw new Error('a state is no invocation');
    return request.invocationId;
  }

  /** Text of the result; `<code> <message>` of a failure; outcome of an operation; the kind of any other answer. */
  get text(): string | undefined {
    const [answer] = this.answers;
    if (answer?.kind === 'operation') return answer.outcome;
    if (answer?.kind !== 'result') return answer?.kind;
    const { result } = answer;
    if (result.kind === 'success') return decodeUtf8(result.value);
    return `${String(result.failure.code)} ${result.failure.message}`;
  }
}
