/** Messages between partitions: exactly once, in order per sender (SPEC OUT). */

import type { PartitionMessage } from '@engine/domain';
import { isInFlight } from '@engine/domain';
import { assertNever } from '@engine/stdx';

import type { MessageArrived, MessagesAcknowledged } from '../command.js';
import type { Draft } from '../draft.js';
import { notify } from '../journal.js';
import { attachForInvocation } from './attach.js';
import { invoke } from './invoke.js';
import { kill, signal } from './terminate.js';

/** Applies exactly the message after the last one; repeats and gaps only tell the sender where we are. */
export function messageArrived(draft: Draft, command: MessageArrived): void {
  const { sender, sequence } = command;
  const last = draft.inbound(sender) ?? -1;
  if (sequence !== last + 1) {
    draft.act({ kind: 'AcknowledgeMessages', sender, upTo: last });
    return;
  }
  draft.putInbound(sender, sequence);
  draft.act({ kind: 'AcknowledgeMessages', sender, upTo: sequence });
  applyMessage(draft, command.message);
}

/** The receiver has made messages durable: their rows go. */
export function messagesAcknowledged(draft: Draft, command: MessagesAcknowledged): void {
  const { destination } = command;
  const cursor = draft.outboxCursor(destination);
  if (cursor === undefined) return;
  const end = Math.min(command.upTo + 1, cursor.next);
  if (end <= cursor.first) return;
  for (let sequence = cursor.first; sequence < end; sequence += 1) {
    draft.removeOutboxMessage(destination, sequence);
  }
  draft.putOutboxCursor(destination, { first: end, next: cursor.next });
}

/** Effect of a message, whoever sent it. */
export function applyMessage(draft: Draft, message: PartitionMessage): void {
  switch (message.kind) {
    case 'invoke':
      invoke(draft, message.request, undefined);
      return;
    case 'respond': {
      const { slot } = message;
      const row = draft.invocation(slot.callerId);
      // An answer to an earlier use of the id, or to somebody who no longer waits, concerns nobody.
      if (row?.incarnation !== slot.callerIncarnation || !isInFlight(row.status)) return;
      const id = { kind: 'completion', id: slot.completionId } as const;
      notify(draft, slot.callerId, {
        row,
        notification: { type: slot.type, id, result: message.result },
      });
      return;
    }
    case 'signal':
      signal(draft, message.invocationId, message);
      return;
    case 'attach':
      attachForInvocation(draft, message.invocationId, message);
      return;
    case 'kill':
      kill(draft, message.invocationId);
      return;
    default:
      assertNever(message);
  }
}
