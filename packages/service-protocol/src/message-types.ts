/** Type codes of the frames. Ranges: below 0x0400 control, to 0x7fff commands, to 0xfbff notifications, above custom. */
import type { CommandType, NotificationType } from '@engine/domain';

export const MESSAGE_TYPE = {
  start: 0x0000,
  suspension: 0x0001,
  error: 0x0002,
  end: 0x0003,
  commandAck: 0x0004,
  proposeRunCompletion: 0x0005,
  awaitingOn: 0x0006,
  proposeRunCompletionAck: 0x0007,
  input: 0x0400,
  output: 0x0401,
} as const;

/** Codes of the commands that are stored as received. 0x040f is unused. */
export const COMMAND_CODE: Readonly<Record<CommandType, number>> = {
  'get-lazy-state': 0x0402,
  'set-state': 0x0403,
  'clear-state': 0x0404,
  'clear-all-state': 0x0405,
  'get-lazy-state-keys': 0x0406,
  'get-eager-state': 0x0407,
  'get-eager-state-keys': 0x0408,
  'get-promise': 0x0409,
  'peek-promise': 0x040a,
  'complete-promise': 0x040b,
  sleep: 0x040c,
  call: 0x040d,
  'one-way-call': 0x040e,
  'send-signal': 0x0410,
  run: 0x0411,
  'attach-invocation': 0x0412,
  'get-invocation-output': 0x0413,
  'complete-awakeable': 0x0414,
};

/** Codes of the notifications. A completion has the code of its command plus 0x7c00, with the two of `call` shared out. */
export const NOTIFICATION_CODE: Readonly<Record<NotificationType, number>> = {
  'get-lazy-state': 0x8002,
  'get-lazy-state-keys': 0x8006,
  'get-promise': 0x8009,
  'peek-promise': 0x800a,
  'complete-promise': 0x800b,
  sleep: 0x800c,
  call: 0x800d,
  'call-invocation-id': 0x800e,
  run: 0x8011,
  'attach-invocation': 0x8012,
  'get-invocation-output': 0x8013,
  signal: 0xfbff,
};

const COMMAND_TYPES = new Map<number, CommandType>(
  (Object.entries(COMMAND_CODE) as [CommandType, number][]).map(([type, code]) => [code, type]),
);

const CONTROL_NAMES: Readonly<Record<number, string>> = {
  [MESSAGE_TYPE.start]: 'Start',
  [MESSAGE_TYPE.suspension]: 'Suspension',
  [MESSAGE_TYPE.error]: 'Error',
  [MESSAGE_TYPE.end]: 'End',
  [MESSAGE_TYPE.commandAck]: 'CommandAck',
  [MESSAGE_TYPE.proposeRunCompletion]: 'ProposeRunCompletion',
  [MESSAGE_TYPE.awaitingOn]: 'AwaitingOn',
  [MESSAGE_TYPE.proposeRunCompletionAck]: 'ProposeRunCompletionAck',
  [MESSAGE_TYPE.input]: 'Input',
  [MESSAGE_TYPE.output]: 'Output',
};

/** The command that a code stands for; undefined for input, output and everything that is no command. */
export function commandTypeOf(code: number): CommandType | undefined {
  return COMMAND_TYPES.get(code);
}

/** Name of a type of frame or command as people read it: `Run`, `OneWayCall`, `ProposeRunCompletion`. */
export function messageTypeName(code: number): string | undefined {
  const command = COMMAND_TYPES.get(code);
  return command === undefined ? CONTROL_NAMES[code] : commandTypeName(command);
}

/** Name of a command as people read it. */
export function commandTypeName(type: CommandType): string {
  return wordsTogether(type);
}

/** Name of a notification as people read it: `Run`, `CallInvocationId`, `Signal`. */
export function notificationTypeName(type: NotificationType): string {
  return wordsTogether(type);
}

function wordsTogether(type: string): string {
  const words = type.split('-').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return words.join('');
}

/** True for codes that only the server sends: start, acks and every notification. */
export function isServerOnly(code: number): boolean {
  return (
    code === MESSAGE_TYPE.start ||
    code === MESSAGE_TYPE.commandAck ||
    code === MESSAGE_TYPE.proposeRunCompletionAck ||
    (code >= 0x8000 && code <= NOTIFICATION_CODE.signal)
  );
}
