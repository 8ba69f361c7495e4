/**
 * Callers as an ingress serves them: each request has an id, and is sent again under it until there is an answer, through
 * crashes, lost answers and refusals.
 */

import {
  composeInvocationId,
  derivePartitionKey,
  idempotentInvocationId,
  partitionKeyOf,
  retentionOf,
  SERVICE_BUCKETS,
  ulidBytes,
  workflowInvocationId,
  type DeploymentChoice,
  type DeploymentId,
  type Hashes,
  type InvocationId,
  type NotificationId,
  type NotificationResult,
  type OperationOutcome,
  type PartitionAnswer,
  type PartitionRequest,
  type Result,
  type SchemaLookup,
} from '@engine/domain';
import { assert } from '@engine/stdx';

import { decodeJson, encodeJson, type Callee, type Json } from '../deployment/handler-context.js';
import type { Chance } from '../simulator/chance.js';
import { EPOCH_MS, type EventLoop } from '../simulator/event-loop.js';
import type { Lab } from './lab.js';

/** Takes a request back: nobody waits for its answer any more. It may have left already. */
export type Withdraw = () => void;

/** The way to the server process that runs now. */
export interface ServerPort {
  /** Undefined when no process is there to take it. `respond` gets answers, `lost` the news that the process is gone. */
  send(
    request: PartitionRequest,
    respond: (answer: PartitionAnswer) => void,
    lost: () => void,
  ): Withdraw | undefined;
}

export interface ClientFaults {
  /** Share of answers that never reach the caller, who asks again. */
  answerLoss: number;
  /** Typical and longest way of an answer, ms. */
  answerMs: number;
  answerMsMax: number;
  /** Longest wait for an answer before a caller asks again, ms; well below the time for which an end is remembered. */
  askAgainMs: number;
}

export interface ClientDependencies {
  readonly loop: EventLoop;
  readonly chance: Chance;
  readonly faults: ClientFaults;
  readonly hashes: Hashes;
  readonly schema: () => SchemaLookup;
  readonly server: ServerPort;
  readonly lab: Lab;
}

export interface Outcome {
  readonly id: InvocationId;
  readonly result: Result;
}

export class Client {
  readonly #dependencies: ClientDependencies;
  #requests = 0;

  constructor(dependencies: ClientDependencies) {
    this.#dependencies = dependencies;
  }

  /** The id that an invocation of the callee gets; a fresh one unless something identifies it. */
  idFor(callee: Callee): InvocationId {
    const { hashes, chance, schema } = this.#dependencies;
    const { service, handler, key, idempotencyKey } = callee;
    const kind = schema().handler(service, handler)?.kind;
    assert(kind !== undefined, `${service}/${handler} is served`);
    if (kind === 'workflow-run') return workflowInvocationId({ service, key: key ?? '' }, hashes);
    if (idempotencyKey !== undefined) {
      return idempotentInvocationId({ service, key, handler, idempotencyKey }, hashes);
    }
    const bucket = chance.below(SERVICE_BUCKETS);
    return composeInvocationId(derivePartitionKey({ service, key }, hashes, bucket), this.#ulid());
  }

  /** Calls and waits for the end. */
  async call(callee: Callee, input: Json, id = this.idFor(callee)): Promise<Outcome> {
    const answer = await this.#ask(
      this.#invoke(callee, { id, input, awaits: 'result', delayMs: 0 }),
    );
    assert(answer.kind === 'result', `a call is answered by a result, not ${answer.kind}`);
    return { id, result: answer.result };
  }

  /** Calls and expects this value. */
  async expect(callee: Callee, input: Json, expected: (value: Json) => boolean): Promise<void> {
    const { id, result } = await this.call(callee, input);
    this.#dependencies.lab.expect(
      result.kind === 'success' && expected(decodeJson(result.value)),
      () => `${callee.service}/${callee.handler} ${id} ended with ${resultText(result)}`,
    );
  }

  /** Sends and waits until that is durable. */
  async send(callee: Callee, input: Json, delayMs = 0): Promise<InvocationId> {
    const id = this.idFor(callee);
    const answer = await this.#ask(
      this.#invoke(callee, { id, input, awaits: 'submission', delayMs }),
    );
    assert(answer.kind === 'submitted', `a send is answered by a receipt, not ${answer.kind}`);
    return id;
  }

  attach(invocationId: InvocationId): Promise<PartitionAnswer> {
    return this.#ask({
      kind: 'attach',
      requestId: this.#requestId(),
      invocationId,
      blocking: true,
    });
  }

  output(invocationId: InvocationId): Promise<PartitionAnswer> {
    return this.#ask({
      kind: 'attach',
      requestId: this.#requestId(),
      invocationId,
      blocking: false,
    });
  }

  async signal(
    invocationId: InvocationId,
    id: NotificationId,
    result: NotificationResult,
  ): Promise<void> {
    const requestId = this.#requestId();
    await this.#ask({ kind: 'signal', requestId, invocationId, id, result });
  }

  operate(
    kind: 'cancel' | 'kill' | 'pause' | 'purge' | 'purge-journal',
    invocationId: InvocationId,
  ): Promise<OperationOutcome> {
    return this.#operation({ kind, requestId: this.#requestId(), invocationId });
  }

  resume(invocationId: InvocationId, deployment: DeploymentChoice): Promise<OperationOutcome> {
    return this.#operation({
      kind: 'resume',
      requestId: this.#requestId(),
      invocationId,
      deployment,
    });
  }

  /** Restarts under a fresh id in the same partition. */
  async restart(
    invocationId: InvocationId,
    deployment: DeploymentChoice,
    copyUpTo: number,
  ): Promise<{ readonly id: InvocationId; readonly outcome: OperationOutcome }> {
    const id = composeInvocationId(partitionKeyOf(invocationId), this.#ulid());
    const outcome = await this.#operation({
      kind: 'restart-as-new',
      requestId: this.#requestId(),
      invocationId,
      newInvocationId: id,
      copyUpTo,
      deployment,
    });
    return { id, outcome };
  }

  replaceState(
    place: { readonly service: string; readonly key: string },
    state: ReadonlyMap<string, Json>,
    expectedVersion: string | undefined,
  ): Promise<OperationOutcome> {
    const entries = [...state].map(([key, value]) => ({ key, value: encodeJson(value) }));
    const requestId = this.#requestId();
    return this.#operation({
      kind: 'replace-state',
      requestId,
      ...place,
      expectedVersion,
      entries,
    });
  }

  /** Deployments that serve it now or served it before. */
  deploymentsOf(service: string): readonly DeploymentId[] {
    return this.#dependencies
      .schema()
      .schema.deployments.filter(({ services }) => services.some(({ name }) => name === service))
      .map(({ id }) => id);
  }

  async #operation(request: PartitionRequest): Promise<OperationOutcome> {
    const answer = await this.#ask(request);
    assert(answer.kind === 'operation', `an operation is answered as one, not ${answer.kind}`);
    return answer.outcome;
  }

  #ulid(): Uint8Array {
    const { chance, loop } = this.#dependencies;
    const timestampMs = EPOCH_MS + Math.floor(loop.now);
    return ulidBytes({ timestampMs, random: chance.bytes(10) });
  }

  #requestId(): string {
    this.#requests += 1;
    return `request-${String(this.#requests)}`;
  }

  #invoke(
    callee: Callee,
    wish: {
      readonly id: InvocationId;
      readonly input: Json;
      readonly awaits: 'result' | 'submission';
      readonly delayMs: number;
    },
  ): PartitionRequest {
    const { schema, loop } = this.#dependencies;
    const resolved = schema().handler(callee.service, callee.handler);
    assert(resolved !== undefined, `${callee.service}/${callee.handler} is served`);
    const { service, handler, key, idempotencyKey } = callee;
    const now = EPOCH_MS + Math.floor(loop.now);
    return {
      kind: 'invoke',
      requestId: this.#requestId(),
      awaits: wish.awaits,
      invocation: {
        id: wish.id,
        target: { kind: resolved.kind, service, key, handler },
        headers: [{ key: 'x-simulated', value: 'yes' }],
        payload: encodeJson(wish.input),
        idempotencyKey,
        executionTime: wish.delayMs === 0 ? undefined : now + wish.delayMs,
        ...retentionOf(resolved, idempotencyKey !== undefined),
      },
    };
  }

  /** Asks until there is an answer. All answers to one request must say the same. */
  #ask(request: PartitionRequest): Promise<PartitionAnswer> {
    const { loop, chance, faults } = this.#dependencies;
    return new Promise((resolve) => {
      let isSettled = false;
      let round = 0;
      let withdraw: Withdraw = () => undefined;
      const ask = (): void => {
        if (isSettled) return;
        withdraw();
        round += 1;
        const thisRound = round;
        const again = (delayMs: number): void => {
          loop.after(delayMs, () => {
            if (round === thisRound) ask();
          });
        };
        const taken = this.#send(request, {
          answered: (answer) => {
            if (isSettled) return;
            if (answer.kind === 'unavailable') {
              again(chance.delay(50, 1_000));
              return;
            }
            isSettled = true;
            resolve(answer);
          },
          lost: () => {
            again(chance.delay(50, 1_000));
          },
        });
        const { askAgainMs } = faults;
        withdraw = taken ?? (() => undefined);
        again(
          taken !== undefined
            ? chance.between(Math.ceil(askAgainMs / 10), askAgainMs)
            : chance.delay(50, 1_000),
        );
      };
      ask();
    });
  }

  #send(
    request: PartitionRequest,
    on: { readonly answered: (answer: PartitionAnswer) => void; readonly lost: () => void },
  ): Withdraw | undefined {
    const { loop, chance, faults, server } = this.#dependencies;
    return server.send(
      request,
      (answer) => {
        if (chance.happens(faults.answerLoss)) return;
        loop.after(chance.delay(faults.answerMs, faults.answerMsMax), () => {
          on.answered(answer);
        });
      },
      on.lost,
    );
  }
}

export function resultText(result: Result): string {
  return result.kind === 'success'
    ? new TextDecoder().decode(result.value).slice(0, 200)
    : `${String(result.failure.code)} ${result.failure.message}`;
}
