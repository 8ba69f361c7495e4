/** Requests of ingress and admin: each becomes one command, and its answer finds the caller by request id. */

import type { PartitionAnswer, PartitionRequest } from '@engine/domain';
import type { Scheduler } from '@engine/runtime';
import type { Command } from '@engine/state-machine';
import { assertNever } from '@engine/stdx';
import type { SentRequest } from '@engine/wire';

import { onRequestRefused } from '../events.js';
import { isTooLong } from '../invoker/key-limit.js';
import type { PartitionProcessor } from './processor.js';
import { resolveDeployment, type DeploymentSources } from './resolve-deployment.js';

/** Requests of one partition that wait for their answers; more are refused as overload. About 300 bytes each. */
export const WAITING_REQUESTS_MAX = 262_144;

export type Respond = (answer: PartitionAnswer) => void;

export interface RequestDeskDependencies extends DeploymentSources {
  readonly processor: Pick<PartitionProcessor, 'offer'>;
  readonly scheduler: Scheduler;
  /** Keys and values of a whole state that replaces another. */
  readonly stateBytesMax: number;
}

export class RequestDesk {
  readonly #dependencies: RequestDeskDependencies;
  readonly #waiting = new Map<string, WaitingCaller>();
  #isStopping = false;

  constructor(dependencies: RequestDeskDependencies) {
    this.#dependencies = dependencies;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  /**
   * A repeated request id replaces the caller that waits under it; the command itself has one effect only. `respond` is never
   * called before this returns.
   */
  send(request: PartitionRequest, respond: Respond): SentRequest {
    const caller = new WaitingCaller(request.requestId, respond, this.#waiting);
    if (request.kind === 'replace-state' && this.#isTooLarge(request)) {
      this.#dependencies.scheduler.immediate(() => {
        caller.respond({ kind: 'operation', outcome: 'limit-reached' });
      });
      return caller;
    }
    const isAccepted =
      !this.#isStopping &&
      this.#waiting.size < WAITING_REQUESTS_MAX &&
      this.#dependencies.processor.offer(toCommand(request, this.#dependencies));
    if (isAccepted) {
      this.#waiting.set(request.requestId, caller);
      return caller;
    }
    onRequestRefused();
    const reason = this.#isStopping ? 'stopping' : 'overloaded';
    this.#dependencies.scheduler.immediate(() => {
      caller.respond({ kind: 'unavailable', reason });
    });
    return caller;
  }

  /** A new state is one command: it is as large as one message may be, and its keys as long as others. */
  #isTooLarge({ key, entries }: Extract<PartitionRequest, { kind: 'replace-state' }>): boolean {
    let bytes = 0;
    for (const entry of entries) {
      if (isTooLong(entry.key)) return true;
      bytes += entry.key.length + entry.value.length;
    }
    return isTooLong(key) || bytes > this.#dependencies.stateBytesMax;
  }

  /** Answers of requests that nobody waits for any more are dropped. */
  answer(requestId: string, answer: PartitionAnswer): void {
    const caller = this.#waiting.get(requestId);
    if (caller === undefined) return;
    this.#waiting.delete(requestId);
    caller.respond(answer);
  }

  stop(): void {
    this.#isStopping = true;
  }

  /** Tells everybody who still waits to ask again elsewhere. The requests may have taken effect. */
  abandon(): void {
    this.#isStopping = true;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const caller of waiting) caller.respond({ kind: 'unavailable', reason: 'stopping' });
  }
}

/** Who waits under a request id. Its caller keeps it too, so that it can leave. */
class WaitingCaller implements SentRequest {
  respond: Respond;
  readonly #requestId: string;
  readonly #waiting: Map<string, WaitingCaller>;

  constructor(requestId: string, respond: Respond, waiting: Map<string, WaitingCaller>) {
    this.respond = respond;
    this.#requestId = requestId;
    this.#waiting = waiting;
  }

  withdraw(): void {
    this.respond = ignore;
    if (this.#waiting.get(this.#requestId) === this) this.#waiting.delete(this.#requestId);
  }
}

function ignore(): void {
  // The caller has left.
}

/** `at` is written when the command is decided. */
function toCommand(request: PartitionRequest, sources: DeploymentSources): Command {
  const { requestId } = request;
  const at = 0;
  switch (request.kind) {
    case 'invoke':
      return toInvoke(request);
    case 'attach': {
      const { invocationId, blocking } = request;
      return { kind: 'AttachRequest', at, requestId, invocationId, blocking };
    }
    case 'signal': {
      const { invocationId, id, result } = request;
      return { kind: 'SendSignal', at, requestId, invocationId, id, result };
    }
    case 'cancel':
    case 'kill':
    case 'pause':
    case 'purge':
    case 'purge-journal': {
      const kind = OPERATIONS[request.kind];
      return { kind, at, requestId, invocationId: request.invocationId };
    }
    case 'resume': {
      const { invocationId } = request;
      const deployment = resolveDeployment(request.deployment, invocationId, sources);
      return { kind: 'ResumeInvocation', at, requestId, invocationId, deployment };
    }
    case 'restart-as-new': {
      const { invocationId, newInvocationId, copyUpTo } = request;
      const deployment = resolveDeployment(request.deployment, invocationId, sources);
      const ids = { requestId, invocationId, newInvocationId };
      return { kind: 'RestartAsNew', at, ...ids, copyUpTo, deployment };
    }
    case 'replace-state': {
      const { service, key, expectedVersion, entries } = request;
      return { kind: 'ReplaceState', at, requestId, service, key, expectedVersion, entries };
    }
    default:
      return assertNever(request);
  }
}

/** Operations that need nothing but the id of the invocation. */
const OPERATIONS = {
  cancel: 'CancelInvocation',
  kill: 'KillInvocation',
  pause: 'PauseInvocation',
  purge: 'PurgeInvocation',
  'purge-journal': 'PurgeJournal',
} as const;

function toInvoke(request: Extract<PartitionRequest, { kind: 'invoke' }>): Command {
  const { requestId, invocation, awaits } = request;
  return {
    kind: 'InvokeHandler',
    at: 0,
    request: {
      id: invocation.id,
      target: invocation.target,
      source: { kind: 'ingress', requestId },
      headers: invocation.headers,
      payload: invocation.payload,
      idempotencyKey: invocation.idempotencyKey,
      executionTime: invocation.executionTime,
      completionRetentionMs: invocation.completionRetentionMs,
      journalRetentionMs: invocation.journalRetentionMs,
      sink: awaits === 'result' ? { kind: 'request', requestId } : undefined,
    },
    submitRequestId: awaits === 'submission' ? requestId : undefined,
  };
}
