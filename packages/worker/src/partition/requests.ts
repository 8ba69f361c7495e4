/** Requests of ingress and admin: each becomes one command, and its answer finds the caller by request id. */

import type { PartitionAnswer, PartitionRequest } from '@engine/domain';
import type { Scheduler } from '@engine/runtime';
import type { Command } from '@engine/state-machine';
import { assertNever } from '@engine/stdx';

import { onRequestRefused } from '../events.js';
import type { PartitionProcessor } from './processor.js';

/** Requests of one partition that wait for their answers; more are refused as overload. About 300 bytes each. */
export const WAITING_REQUESTS_MAX = 262_144;

export type Respond = (answer: PartitionAnswer) => void;

export class RequestDesk {
  readonly #processor: PartitionProcessor;
  readonly #scheduler: Scheduler;
  readonly #waiting = new Map<string, Respond>();
  #isStopping = false;

  constructor(processor: PartitionProcessor, scheduler: Scheduler) {
    this.#processor = processor;
    this.#scheduler = scheduler;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  /**
   * A repeated request id replaces the caller that waits under it; the command itself has one effect only. `respond` is never
   * called before this returns.
   */
  send(request: PartitionRequest, respond: Respond): void {
    const isAccepted =
      !this.#isStopping &&
      this.#waiting.size < WAITING_REQUESTS_MAX &&
      this.#processor.offer(toCommand(request));
    if (isAccepted) {
      this.#waiting.set(request.requestId, respond);
      return;
    }
    onRequestRefused();
    const reason = this.#isStopping ? 'stopping' : 'overloaded';
    this.#scheduler.immediate(() => {
      respond({ kind: 'unavailable', reason });
    });
  }

  /** Answers of requests that nobody waits for any more are dropped. */
  answer(requestId: string, answer: PartitionAnswer): void {
    const respond = this.#waiting.get(requestId);
    if (respond === undefined) return;
    this.#waiting.delete(requestId);
    respond(answer);
  }

  stop(): void {
    this.#isStopping = true;
  }

  /** Tells everybody who still waits to ask again elsewhere. The requests may have taken effect. */
  abandon(): void {
    this.#isStopping = true;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const respond of waiting) respond({ kind: 'unavailable', reason: 'stopping' });
  }
}

/** `at` is written when the command is decided. */
function toCommand(request: PartitionRequest): Command {
  switch (request.kind) {
    case 'invoke':
      return toInvoke(request);
    case 'attach': {
      const { requestId, invocationId, blocking } = request;
      return { kind: 'AttachRequest', at: 0, requestId, invocationId, blocking };
    }
    case 'signal': {
      const { requestId, invocationId, id, result } = request;
      return { kind: 'SendSignal', at: 0, requestId, invocationId, id, result };
    }
    case 'cancel': {
      const { requestId, invocationId } = request;
      return { kind: 'CancelInvocation', at: 0, requestId, invocationId };
    }
    case 'kill': {
      const { requestId, invocationId } = request;
      return { kind: 'KillInvocation', at: 0, requestId, invocationId };
    }
    default:
      return assertNever(request);
  }
}

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
