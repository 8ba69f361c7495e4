/** Resume: the next attempt starts now, with a fresh budget of retries (SPEC PAU). */

import type { Invocation, InvocationId, OperationOutcome } from '@engine/domain';
import { isRetained } from '@engine/domain';

import type { ResolvedDeployment, ResumeInvocation } from '../command.js';
import type { Draft } from '../draft.js';
import { dropRetryTimer, startAttempt } from '../lifecycle.js';
import { repin } from '../repin.js';

export function resumeInvocation(draft: Draft, command: ResumeInvocation): OperationOutcome {
  const { invocationId: id, deployment } = command;
  const row = draft.invocation(id);
  switch (row?.status) {
    case undefined:
      return 'not-found';
    case 'scheduled':
    case 'inboxed':
      return 'not-started';
    case 'invoked':
      return retryNow(draft, id, { row, deployment });
    case 'suspended':
    case 'paused': {
      const repinned = repin(row, deployment);
      if (repinned.kind === 'refused') return repinned.outcome;
      startAttempt(draft, id, { ...repinned.row, retry: undefined });
      return 'done';
    }
    case 'completed':
      return isRetained(row, draft.at) ? 'already-completed' : 'not-found';
  }
}

/** Work that runs, or will at the next chance, goes on as it is; a wait for the next try is over. */
function retryNow(
  draft: Draft,
  id: InvocationId,
  resume: { readonly row: Invocation; readonly deployment: ResolvedDeployment },
): OperationOutcome {
  const { row, deployment } = resume;
  if (deployment.kind !== 'keep') return 'deployment-not-changeable';
  if (row.retry?.nextAttemptAt === undefined) return 'done';
  dropRetryTimer(draft, id, row);
  startAttempt(draft, id, { ...row, retry: undefined });
  return 'done';
}
