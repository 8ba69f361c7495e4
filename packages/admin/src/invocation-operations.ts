import {
  EngineError,
  ulidText,
  type InvocationId,
  type OperationOutcome,
  type PartitionAnswer,
} from '@engine/domain';
import type { Scheduler } from '@engine/runtime';
import { assert } from '@engine/stdx';
import type { PartitionChannel } from '@engine/wire';
import { OPERATION_TIME_MS_MAX } from './limits.js';

export interface InvocationOperationsDependencies {
  readonly channel: PartitionChannel;
  readonly scheduler: Scheduler;
  readonly newUlid: () => Uint8Array;
}

/** Operations that are asked of one invocation at the partition that owns it. */
export class InvocationOperations {
  readonly #dependencies: InvocationOperationsDependencies;

  constructor(dependencies: InvocationOperationsDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Resolves when the outcome is durable. Errors: `unavailable` when the partition does not answer in time or takes no work
   * now; then it is not known whether the operation takes place.
   */
  async run(kind: 'cancel' | 'kill', invocationId: InvocationId): Promise<OperationOutcome> {
    const { channel, scheduler, newUlid } = this.#dependencies;
    const requestId = ulidText(newUlid());
    const answer = await new Promise<PartitionAnswer>((resolve, reject) => {
      const limit = scheduler.after(OPERATION_TIME_MS_MAX, () => {
        reject(new EngineError('unavailable', 'the partition of the invocation does not answer'));
      });
      channel.send({ kind, requestId, invocationId }, (given) => {
        limit.cancel();
        resolve(given);
      });
    });
    if (answer.kind === 'unavailable') {
      throw new EngineError('unavailable', 'the partition of the invocation takes no work now');
    }
    assert(answer.kind === 'operation', 'an operation is answered with its outcome');
    return answer.outcome;
  }
}
