/** Changes of the state of objects and workflows, asked of the partition that owns the key. */

import { ulidText, type OperationOutcome, type StateEntry } from '@engine/domain';
import { assert } from '@engine/stdx';
import { callPartition, type PartitionCallDependencies } from './partition-call.js';

export interface StateReplacement {
  readonly service: string;
  readonly key: string;
  /** Version of the state that is meant; on another one nothing changes. Undefined = any. */
  readonly expectedVersion: string | undefined;
  /** The whole new state. */
  readonly entries: readonly StateEntry[];
}

export interface StateOperationsDependencies extends PartitionCallDependencies {
  readonly newUlid: () => Uint8Array;
}

export class StateOperations {
  readonly #dependencies: StateOperationsDependencies;

  constructor(dependencies: StateOperationsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Resolves when the request is durable; it takes effect in its turn among the exclusive invocations of the key. */
  async replace(replacement: StateReplacement): Promise<OperationOutcome> {
    const requestId = ulidText(this.#dependencies.newUlid());
    const answer = await callPartition(
      { kind: 'replace-state', requestId, ...replacement },
      this.#dependencies,
    );
    assert(answer.kind === 'operation', 'an operation is answered with its outcome');
    return answer.outcome;
  }
}
