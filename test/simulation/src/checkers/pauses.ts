/** While an invocation is paused, its server hears no attempt of it and starts none. */

import type { PartitionAnswer, PartitionRequest } from '@engine/domain';

import type { ExchangeFacts } from '../deployment/sim-exchange.js';
import type { Lab } from '../workloads/lab.js';

export class PausesChecker {
  readonly #lab: Lab;
  /** Numbers of the connections that a server can hear, per invocation. */
  readonly #open = new Map<string, Set<number>>();

  constructor(lab: Lab) {
    this.#lab = lab;
  }

  opened({ invocationId, number }: ExchangeFacts): void {
    const isHeld = this.#lab.isHeld(invocationId);
    this.#lab.expect(!isHeld, () => `${invocationId} starts while it is paused`);
    const open = this.#open.get(invocationId) ?? new Set();
    this.#open.set(invocationId, open.add(number));
  }

  over({ invocationId, number }: ExchangeFacts): void {
    const open = this.#open.get(invocationId);
    open?.delete(number);
    if (open?.size === 0) this.#open.delete(invocationId);
  }

  answered(request: PartitionRequest, answer: PartitionAnswer): void {
    if (request.kind !== 'pause' || answer.kind !== 'operation') return;
    if (answer.outcome !== 'done' && answer.outcome !== 'unchanged') return;
    const { invocationId } = request;
    const isRunning = this.#open.has(invocationId);
    this.#lab.expect(!isRunning, () => `${invocationId} is paused, and an attempt of it runs on`);
  }
}
