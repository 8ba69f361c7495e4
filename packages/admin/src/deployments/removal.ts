import type { DeploymentId, InvocationId } from '@engine/domain';
import type { InvocationScan } from '@engine/wire';
import { REMOVAL_SCAN_INVOCATIONS } from '../limits.js';

/** An invocation that is not at its end and has to go on at this deployment; undefined when there is none. */
export async function unfinishedInvocation(
  invocations: InvocationScan,
  deploymentId: DeploymentId,
): Promise<InvocationId | undefined> {
  const limit = REMOVAL_SCAN_INVOCATIONS;
  let after: InvocationId | undefined;
  for (;;) {
    let seen = 0;
    for await (const { id, invocation } of invocations.scan({ limit, after })) {
      seen += 1;
      after = id;
      const isPinned = invocation.pin?.deploymentId === deploymentId;
      if (isPinned && invocation.status !== 'completed') return id;
    }
    if (seen < limit) return undefined;
  }
}
