/**
 * What is read is current: an answer that says `not there` or `not yet` was true at some moment after the question. A leader that
 * does not know that it leads no more must not give such an answer.
 */

import {
  shardOfInvocation,
  toPartitionId,
  type Invocation,
  type InvocationId,
  type PartitionAnswer,
  type PartitionRequest,
} from '@engine/domain';

import type { RowsView } from '../simulator/rows-view.js';
import type { Lab } from '../workloads/lab.js';

/** Clocks of servers decide when a result is no longer shown; so close to that moment nothing is expected. */
const RETENTION_SLACK_MS = 10_000;

export class ReadsChecker {
  readonly #view: RowsView;
  readonly #lab: Lab;
  readonly #partitionCount: number;
  readonly #now: () => number;
  /** What was in the log when the request was made, by request id. */
  readonly #asked = new Map<string, Invocation | undefined>();

  constructor(dependencies: {
    readonly view: RowsView;
    readonly lab: Lab;
    readonly partitionCount: number;
    /** Ms since the epoch. */
    readonly now: () => number;
  }) {
    this.#view = dependencies.view;
    this.#lab = dependencies.lab;
    this.#partitionCount = dependencies.partitionCount;
    this.#now = dependencies.now;
  }

  /** A caller makes a request; again with the same id changes nothing. */
  asked(request: PartitionRequest): void {
    const id = subjectOf(request);
    if (id === undefined || this.#asked.has(request.requestId)) return;
    this.#asked.set(request.requestId, this.#row(id));
  }

  /** A worker answers. */
  answered(request: PartitionRequest, answer: PartitionAnswer): void {
    const id = subjectOf(request);
    const before = this.#asked.get(request.requestId);
    if (id === undefined || before === undefined) return;
    const isGone =
      answer.kind === 'not-found' ||
      (answer.kind === 'operation' && answer.outcome === 'not-found');
    if (!isGone && answer.kind !== 'not-ready') return;
    const now = this.#row(id);
    if (now === undefined || now.incarnation !== before.incarnation || !this.#isShown(now)) return;
    this.#lab.expect(
      !isGone,
      () => `a stale read: ${request.kind} of ${id} says it is not there, and it was all the time`,
    );
    this.#lab.expect(
      answer.kind !== 'not-ready' || before.status !== 'completed',
      () =>
        `a stale read: ${id} had ended before ${request.requestId} asked, and is told not to have`,
    );
  }

  #isShown(row: Invocation): boolean {
    if (row.purgedAt !== undefined) return false;
    if (row.status !== 'completed') return true;
    const until = (row.completedAt ?? 0) + row.completionRetentionMs;
    return this.#now() + RETENTION_SLACK_MS < until;
  }

  #row(id: InvocationId): Invocation | undefined {
    const partition = toPartitionId(shardOfInvocation(id, this.#partitionCount));
    return this.#view.state(partition).invocation(id);
  }
}

function subjectOf(request: PartitionRequest): InvocationId | undefined {
  switch (request.kind) {
    case 'invoke':
    case 'replace-state':
      return undefined;
    default:
      return request.invocationId;
  }
}
