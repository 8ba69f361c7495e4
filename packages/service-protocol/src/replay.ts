/** What the server sends: the start of an attempt, its replay, then notifications and acknowledgements. */
import { invocationIdToBytes, type InvocationId, type JournalEntry } from '@engine/domain';
import { assertNever, concatBytes, EMPTY_BYTES, encodeUtf8 } from '@engine/stdx';
import { encodeMessage, largeFieldHead } from './encode-message.js';
import { LARGE_PIECE_BYTES_MIN, type OutgoingFrame } from './frames.js';
import {
  CommandAck,
  InputCommand,
  Notification,
  OutputCommand,
  ProposeRunCompletionAck,
  Start,
  Start_StateEntry,
} from './gen/service-protocol/messages.js';
import { COMMAND_CODE, MESSAGE_TYPE, NOTIFICATION_CODE } from './message-types.js';
import { writeFailure, writeNotificationResult } from './results.js';

type NotificationEntry = Extract<JournalEntry, { kind: 'notification' }>;
type InputEntry = Extract<JournalEntry, { kind: 'input' }>;
type OutputEntry = Extract<JournalEntry, { kind: 'output' }>;

/** First version whose failures carry metadata. */
const PROTOCOL_VERSION_METADATA = 6;

export interface StartFields {
  readonly invocationId: InvocationId;
  /** Replay frames that follow; at least 1. */
  readonly knownEntries: number;
  readonly state: readonly (readonly [key: string, value: Uint8Array])[];
  /** True = keys that are not in `state` do not exist. */
  readonly isStateComplete: boolean;
  /** Key of the object or workflow. */
  readonly key: string | undefined;
  readonly retryCountSinceLastCommand: number;
  readonly durationSinceLastEntryMs: number;
  readonly randomSeed: bigint;
}

/** The first frame of an attempt. Scope, limit key and idempotency key stay unset: no SDK needs them to run a handler. */
export function startFrame(fields: StartFields): OutgoingFrame {
  const hasLarge = fields.state.some(([, value]) => isLarge(value));
  const small = hasLarge ? fields.state.filter(([, value]) => !isLarge(value)) : fields.state;
  const message: Start = {
    id: invocationIdToBytes(fields.invocationId),
    debugId: fields.invocationId,
    knownEntries: fields.knownEntries,
    stateMap: small.map(([key, value]) => ({ key: encodeUtf8(key), value })),
    partialState: !fields.isStateComplete,
    key: fields.key ?? '',
    retryCountSinceLastStoredEntry: fields.retryCountSinceLastCommand,
    durationSinceLastStoredEntry: BigInt(Math.max(0, Math.round(fields.durationSinceLastEntryMs))),
    randomSeed: fields.randomSeed,
    scope: undefined,
    limitKey: undefined,
    idempotencyKey: undefined,
  };
  const payload = encodeMessage(Start, message);
  if (!hasLarge) return { type: MESSAGE_TYPE.start, payload };
  const large = fields.state.filter(([, value]) => isLarge(value));
  return { type: MESSAGE_TYPE.start, payload, rest: large.flatMap(largeStateEntry) };
}

/** Field numbers of what may be large (proto/service-protocol/messages.proto). */
const STATE_MAP_FIELD = 4;
const STATE_VALUE_FIELD = 2;
const NOTIFICATION_VALUE_FIELD = 5;
const INPUT_VALUE_FIELD = 14;
const OUTPUT_VALUE_FIELD = 14;
const VALUE_CONTENT_FIELD = 1;

function isLarge(content: Uint8Array): boolean {
  return content.length >= LARGE_PIECE_BYTES_MIN;
}

function largeStateEntry([key, value]: StartFields['state'][number]): Uint8Array[] {
  const name = encodeUtf8(key);
  const head = largeFieldHead({
    field: STATE_MAP_FIELD,
    before: encodeMessage(Start_StateEntry, { key: name, value: EMPTY_BYTES }),
    contentField: STATE_VALUE_FIELD,
    content: value,
  });
  return [head, value];
}

/** A frame whose message ends with a large `Value`; `message`: all the others of its fields. */
function frameWithValue(
  type: number,
  message: Uint8Array,
  value: { readonly field: number; readonly content: Uint8Array },
): OutgoingFrame {
  const { field, content } = value;
  const before = EMPTY_BYTES;
  const head = largeFieldHead({ field, before, contentField: VALUE_CONTENT_FIELD, content });
  return { type, payload: concatBytes([message, head]), rest: [content] };
}

/** A stored entry as it is replayed. Commands go back as the bytes that came. */
export function replayFrame(entry: JournalEntry, version: number): OutgoingFrame {
  switch (entry.kind) {
    case 'input':
      return inputFrame(entry);
    case 'output':
      return outputFrame(entry, version);
    case 'command':
      return { type: COMMAND_CODE[entry.type], payload: entry.raw };
    case 'notification':
      return notificationFrame(entry, version);
    default:
      return assertNever(entry);
  }
}

/** A notification, in a replay or as it was stored just now. */
export function notificationFrame(entry: NotificationEntry, version: number): OutgoingFrame {
  const withMetadata = version >= PROTOCOL_VERSION_METADATA;
  const type = NOTIFICATION_CODE[entry.type];
  const id = notificationId(entry);
  const { result } = entry;
  if (result.kind === 'value' && isLarge(result.value)) {
    const head = encodeMessage(Notification, { id, result: undefined });
    return frameWithValue(type, head, { field: NOTIFICATION_VALUE_FIELD, content: result.value });
  }
  const message = { id, result: writeNotificationResult(result, withMetadata) };
  return { type, payload: encodeMessage(Notification, message) };
}

/** Tells the SDK that its run proposal is stored, in place of the whole notification (from version 7, if asked for). */
export function runCompletionAckFrame(completionId: number): OutgoingFrame {
  const payload = encodeMessage(ProposeRunCompletionAck, { completionId });
  return { type: MESSAGE_TYPE.proposeRunCompletionAck, payload };
}

/** Tells the SDK that a command is stored, if it asked for it. */
export function commandAckFrame(commandIndex: number): OutgoingFrame {
  return { type: MESSAGE_TYPE.commandAck, payload: encodeMessage(CommandAck, { commandIndex }) };
}

function inputFrame({ headers, payload }: InputEntry): OutgoingFrame {
  const type = MESSAGE_TYPE.input;
  const message = { headers: headers.map(({ key, value }) => ({ key, value })), name: '' };
  if (isLarge(payload)) {
    const head = encodeMessage(InputCommand, { ...message, value: undefined });
    return frameWithValue(type, head, { field: INPUT_VALUE_FIELD, content: payload });
  }
  const whole = { ...message, value: { content: payload } };
  return { type, payload: encodeMessage(InputCommand, whole) };
}

function outputFrame({ name, result }: OutputEntry, version: number): OutgoingFrame {
  const type = MESSAGE_TYPE.output;
  if (result.kind === 'failure') {
    const failure = writeFailure(result.failure, version >= PROTOCOL_VERSION_METADATA);
    const message = { name, result: { $case: 'failure' as const, value: failure } };
    return { type, payload: encodeMessage(OutputCommand, message) };
  }
  const { value: content } = result;
  if (isLarge(content)) {
    const head = encodeMessage(OutputCommand, { name, result: undefined });
    return frameWithValue(type, head, { field: OUTPUT_VALUE_FIELD, content });
  }
  const message = { name, result: { $case: 'value' as const, value: { content } } };
  return { type, payload: encodeMessage(OutputCommand, message) };
}

function notificationId(entry: NotificationEntry): NonNullable<Notification['id']> {
  switch (entry.id.kind) {
    case 'completion':
      return { $case: 'completionId', value: entry.id.id };
    case 'signal':
      return { $case: 'signalId', value: entry.id.index };
    case 'named-signal':
      return { $case: 'signalName', value: entry.id.name };
    default:
      return assertNever(entry.id);
  }
}
