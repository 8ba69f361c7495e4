/** Carries out what a durable record asks for: one performer for each kind of action, none of which waits. */

import type { Action } from '@engine/state-machine';
import { assertNever } from '@engine/stdx';

import type { Invoker } from '../invoker/invoker.js';
import type { Acknowledgements } from '../partition/acknowledgements.js';
import type { Outbox } from '../partition/outbox.js';
import type { RequestDesk } from '../partition/requests.js';
import type { TimerWindow } from '../partition/timers.js';

/** The rooms of a partition that act. */
export interface Performers {
  readonly requests: RequestDesk;
  readonly invoker: Invoker;
  readonly timers: TimerWindow;
  readonly outbox: Outbox;
  readonly acknowledgements: Acknowledgements;
}

/** Call only for actions whose record is durable, in the order of the decisions. */
export function performAction(action: Action, performers: Performers): void {
  switch (action.kind) {
    case 'AnswerRequest':
      performers.requests.answer(action.requestId, action.answer);
      return;
    case 'StartAttempt':
      performers.invoker.start(action.invocationId, action.attempt);
      return;
    case 'AbortAttempt':
      performers.invoker.abort(action.invocationId, action.attempt);
      return;
    case 'PushNotification':
      performers.invoker.push(action);
      return;
    case 'ConfirmCommand':
      performers.invoker.confirm(action);
      return;
    case 'ScheduleTimer':
      performers.timers.schedule(action.key, action.incarnation);
      return;
    case 'CancelTimer':
      performers.timers.cancel(action.key);
      return;
    case 'SendMessage':
      performers.outbox.add(action.destination, action.sequence, action.message);
      return;
    case 'AcknowledgeMessages':
      performers.acknowledgements.add(action.sender, action.upTo);
      return;
    default:
      assertNever(action);
  }
}

/** The actions of a record have been performed: what gathered leaves together. */
export function flushActions(performers: Performers): void {
  performers.outbox.flush();
  performers.acknowledgements.flush();
}
