export { decide } from './decide.js';
export type { PartitionContext } from './context.js';
export type {
  AttachRequest,
  AttemptEnded,
  AttemptFailed,
  AttemptSuspended,
  CalleeRequest,
  CancelInvocation,
  Command,
  CommandEntry,
  CommandReceived,
  InvokeHandler,
  KillInvocation,
  MessageArrived,
  MessagesAcknowledged,
  ResolvedDeployment,
  RunCompletionProposed,
  SendSignal,
  TimerFired,
} from './command.js';
export type {
  AbortAttempt,
  AcknowledgeMessages,
  Action,
  AnswerRequest,
  ConfirmCommand,
  Outcome,
  PushNotification,
  ScheduleTimer,
  SendMessage,
  StartAttempt,
} from './outcome.js';
