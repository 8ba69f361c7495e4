/** What the server sends: the start of an attempt, its replay, then notifications and acknowledgements. */
import { invocationIdToBytes, type InvocationId, type JournalEntry } from '@engine/domain';
import { assertNever, encodeUtf8 } from '@engine/stdx';
import { encodeMessage } from './encode-message.js';
import type { OutgoingFrame } from './frames.js';
import {
  CommandAck,
  InputCommand,
  Notification,
  OutputCommand,
  ProposeRunCompletionAck,
  Start,
} from './gen/service-protocol/messages.js';
import { COMMAND_CODE, MESSAGE_TYPE, NOTIFICATION_CODE } from './message-types.js';
import { writeFailure, writeNotificationResult } from './results.js';

type NotificationEntry = Extract<JournalEntry, { kind: 'notification' }>;
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
  const message: Start = {
    id: invocationIdToBytes(fields.invocationId),
    debugId: fields.invocationId,
    knownEntries: fields.knownEntries,
    stateMap: fields.state.map(([key, value]) => ({ key: encodeUtf8(key), value })),
    partialState: !fields.isStateComplete,
    key: fields.key ?? '',
    retryCountSinceLastStoredEntry: fields.retryCountSinceLastCommand,
    durationSinceLastStoredEntry: BigInt(Math.max(0, Math.round(fields.durationSinceLastEntryMs))),
    randomSeed: fields.randomSeed,
    scope: undefined,
    limitKey: undefined,
    idempotencyKey: undefined,
  };
  return { type: MESSAGE_TYPE.start, payload: encodeMessage(Start, message) };
}

/** A stored entry as it is replayed. Commands go back as the bytes that came. */
export function replayFrame(entry: JournalEntry, version: number): OutgoingFrame {
  switch (entry.kind) {
    case 'input': {
      const headers = entry.headers.map(({ key, value }) => ({ key, value }));
      const message = { headers, name: '', value: { content: entry.payload } };
      return { type: MESSAGE_TYPE.input, payload: encodeMessage(InputCommand, message) };
    }
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
  const message: Notification = {
    id: notificationId(entry),
    result: writeNotificationResult(entry.result, withMetadata),
  };
  return { type: NOTIFICATION_CODE[entry.type], payload: encodeMessage(Notification, message) };
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

function outputFrame(entry: OutputEntry, version: number): OutgoingFrame {
  const withMetadata = version >= PROTOCOL_VERSION_METADATA;
  const message: OutputCommand = {
    name: entry.name,
    result:
      entry.result.kind === 'success'
        ? { $case: 'value', value: { content: entry.result.value } }
        : { $case: 'failure', value: writeFailure(entry.result.failure, withMetadata) },
  };
  return { type: MESSAGE_TYPE.output, payload: encodeMessage(OutputCommand, message) };
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
