import {
  EngineError,
  type PartitionAnswer,
  type PartitionRequest,
  type UnavailableReason,
} from '@engine/domain';
import type { Scheduler } from '@engine/runtime';
import type { PartitionChannel } from '@engine/wire';
import { OPERATION_TIME_MS_MAX } from './limits.js';

export interface PartitionCallDependencies {
  readonly channel: PartitionChannel;
  readonly scheduler: Scheduler;
}

/**
 * Asks a partition and waits for what it decides. Errors: `overloaded` when it takes no more work now, which
 * had no effect; `unavailable` when it does not answer in time or no leader can be reached, and then it is not known whether the
 * request takes effect.
 */
export async function callPartition(
  request: PartitionRequest,
  { channel, scheduler }: PartitionCallDependencies,
): Promise<PartitionAnswer> {
  const answer = await new Promise<PartitionAnswer>((resolve, reject) => {
    const limit = scheduler.after(OPERATION_TIME_MS_MAX, () => {
      sent.withdraw();
      reject(unavailable('the partition does not answer'));
    });
    const sent = channel.send(request, (given) => {
      limit.cancel();
      resolve(given);
    });
  });
  if (answer.kind === 'unavailable') throw refused(answer.reason);
  return answer;
}

function refused(reason: UnavailableReason): EngineError {
  switch (reason) {
    case 'overloaded':
      return new EngineError('overloaded', 'the partition takes no more work now; try again later');
    case 'stopping':
    case 'not-leader':
      return unavailable('the partition takes no work now');
    case 'disconnected':
      return unavailable('no leader of the partition could be reached in time');
  }
}

function unavailable(reason: string): EngineError {
  return new EngineError('unavailable', `${reason}; try again, a repeat does no harm`);
}
