/**
 * The heart: (state, command) → (mutations, actions). Synchronous and total: no clock, no chance, no I/O, no knowledge of
 * leadership, and no pair of state and command may throw. Rules and their numbers: SPEC.md.
 */

import type { OperationOutcome } from '@engine/domain';
import { assertNever } from '@engine/stdx';
import type { StateReader } from '@engine/storage';

import type { Command, OperationCommand } from './command.js';
import { attachForRequest } from './commands/attach.js';
import {
  attemptEnded,
  attemptFailed,
  attemptSuspended,
  commandReceived,
  runCompletionProposed,
} from './commands/attempt.js';
import { invoke } from './commands/invoke.js';
import { applyMessage, messageArrived, messagesAcknowledged } from './commands/messages.js';
import { pauseInvocation } from './commands/pause.js';
import { purgeInvocation, purgeJournalOf } from './commands/purge.js';
import { replaceStateOf } from './commands/replace-state.js';
import { restartAsNew } from './commands/restart.js';
import { resumeInvocation } from './commands/resume.js';
import { cancel, kill, signal } from './commands/terminate.js';
import { timerFired } from './commands/timer-fired.js';
import type { PartitionContext } from './context.js';
import { Draft } from './draft.js';
import type { Outcome } from './outcome.js';

/**
 * Decides one command.
 *
 * @param state the newest decided state; it is not changed
 * @returns whole rows to write, and what may happen once they are durable
 */
export function decide(state: StateReader, command: Command, context: PartitionContext): Outcome {
  const draft = new Draft(state, context, command.at);
  dispatch(draft, command);
  for (
    let message = draft.takeLocalMessage();
    message !== undefined;
    message = draft.takeLocalMessage()
  ) {
    applyMessage(draft, message);
  }
  return draft.close();
}

function dispatch(draft: Draft, command: Command): void {
  switch (command.kind) {
    case 'InvokeHandler':
      invoke(draft, command.request, command.submitRequestId);
      return;
    case 'AttachRequest':
      attachForRequest(draft, command);
      return;
    case 'SendSignal': {
      signal(draft, command.invocationId, command);
      const { requestId } = command;
      const answer = { kind: 'operation', outcome: 'done' } as const;
      draft.act({ kind: 'AnswerRequest', requestId, answer });
      return;
    }
    case 'CancelInvocation':
    case 'KillInvocation':
    case 'PauseInvocation':
    case 'ResumeInvocation':
    case 'RestartAsNew':
    case 'PurgeInvocation':
    case 'PurgeJournal':
    case 'ReplaceState': {
      const outcome = operate(draft, command);
      const { requestId } = command;
      draft.act({ kind: 'AnswerRequest', requestId, answer: { kind: 'operation', outcome } });
      return;
    }
    case 'MessageArrived':
      messageArrived(draft, command);
      return;
    case 'MessagesAcknowledged':
      messagesAcknowledged(draft, command);
      return;
    case 'TimerFired':
      timerFired(draft, command);
      return;
    case 'CommandReceived':
      commandReceived(draft, command);
      return;
    case 'RunCompletionProposed':
      runCompletionProposed(draft, command);
      return;
    case 'AttemptSuspended':
      attemptSuspended(draft, command);
      return;
    case 'AttemptEnded':
      attemptEnded(draft, command);
      return;
    case 'AttemptFailed':
      attemptFailed(draft, command);
      return;
    default:
      assertNever(command);
  }
}

/** Operations: each is answered with what became of it. */
function operate(draft: Draft, command: OperationCommand): OperationOutcome {
  switch (command.kind) {
    case 'CancelInvocation':
      return cancel(draft, command.invocationId);
    case 'KillInvocation':
      return kill(draft, command.invocationId);
    case 'PauseInvocation':
      return pauseInvocation(draft, command.invocationId);
    case 'ResumeInvocation':
      return resumeInvocation(draft, command);
    case 'RestartAsNew':
      return restartAsNew(draft, command);
    case 'PurgeInvocation':
      return purgeInvocation(draft, command.invocationId);
    case 'PurgeJournal':
      return purgeJournalOf(draft, command.invocationId);
    case 'ReplaceState':
      return replaceStateOf(draft, command);
    default:
      return assertNever(command);
  }
}
