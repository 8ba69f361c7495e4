/** Pause: no attempt runs until somebody resumes or cancels the invocation (SPEC PAU). */

import type { InvocationId, OperationOutcome } from '@engine/domain';
import { isRetained } from '@engine/domain';

import type { Draft } from '../draft.js';
import { pause } from '../lifecycle.js';

export function pauseInvocation(draft: Draft, id: InvocationId): OperationOutcome {
  const row = draft.invocation(id);
  switch (row?.status) {
    case undefined:
      return 'not-found';
    case 'scheduled':
    case 'inboxed':
      return 'not-running';
    case 'invoked':
      draft.act({ kind: 'AbortAttempt', invocationId: id, attempt: row.attempt });
      pause(draft, id, row);
      return 'done';
    case 'suspended':
      pause(draft, id, row);
      return 'done';
    case 'paused':
      return 'unchanged';
    case 'completed':
      return isRetained(row, draft.at) ? 'not-running' : 'not-found';
  }
}
