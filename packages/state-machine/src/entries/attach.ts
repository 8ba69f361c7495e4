/** Attach and output commands: the partition of the other invocation answers by message. */

import type { Invocation, InvocationId } from '@engine/domain';

import type { CommandEntry } from '../command.js';
import type { Draft } from '../draft.js';

export function attach(
  draft: Draft,
  id: InvocationId,
  {
    row,
    entry,
  }: {
    readonly row: Invocation;
    readonly entry: Extract<CommandEntry, { type: 'attach-invocation' | 'get-invocation-output' }>;
  },
): Invocation {
  draft.send({
    kind: 'attach',
    invocationId: entry.target,
    blocking: entry.type === 'attach-invocation',
    slot: {
      callerId: id,
      callerIncarnation: row.incarnation,
      completionId: entry.completionId,
      type: entry.type,
    },
  });
  return row;
}
