/** A step whose outcome was durable when an attempt began is not executed again by that attempt. */

import { requireInvocationId, shardOfInvocation, toPartitionId } from '@engine/domain';

import type { ExchangeFacts } from '../deployment/sim-exchange.js';
import type { RowsView } from '../simulator/rows-view.js';
import type { Lab } from '../workloads/lab.js';

export class EffectsChecker {
  readonly #view: RowsView;
  readonly #lab: Lab;
  readonly #partitionCount: number;
  /** Length of the durable journal when a connection was opened. */
  readonly #lengths = new Map<number, number>();

  constructor(dependencies: {
    readonly view: RowsView;
    readonly lab: Lab;
    readonly partitionCount: number;
  }) {
    this.#view = dependencies.view;
    this.#lab = dependencies.lab;
    this.#partitionCount = dependencies.partitionCount;
  }

  opened(facts: ExchangeFacts): void {
    const id = requireInvocationId(facts.invocationId);
    const row = this.#stateOf(facts).invocation(id);
    this.#lengths.set(facts.number, row?.journalLength ?? 0);
  }

  runExecuted(facts: ExchangeFacts, completionId: number, name: string): void {
    const id = requireInvocationId(facts.invocationId);
    const stored = this.#stateOf(facts).notification(id, { kind: 'completion', id: completionId });
    const length = this.#lengths.get(facts.number) ?? 0;
    this.#lab.expect(
      stored === undefined || stored.firstIndex >= length,
      () => `${id}: '${name}' ran again, though its outcome was durable before the attempt`,
    );
  }

  #stateOf(facts: ExchangeFacts): ReturnType<RowsView['state']> {
    const id = requireInvocationId(facts.invocationId);
    return this.#view.state(toPartitionId(shardOfInvocation(id, this.#partitionCount)));
  }
}
