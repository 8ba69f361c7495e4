/** What a handler may send: the frames of a response, decoded and judged. Total: every frame gives a value, nothing throws. */
import { assertNever } from '@engine/stdx';
import type { AwaitTree, Result } from '@engine/domain';
import {
  AWAITING_ON_TREE_FIELD,
  decodeFlatSuspension,
  decodeTreeMessage,
  SUSPENSION_TREE_FIELD,
  type DecodedTree,
} from './await-tree.js';
import { decodeCommand, decodeOutput } from './commands.js';
import { refuseCrowd } from './crowd.js';
import { MessageFault, violation, type ProtocolFault } from './fault.js';
import type { Frame } from './frames.js';
import { Error as WireError, ProposeRunCompletion } from './gen/service-protocol/messages.js';
import type { HandlerCommand } from './handler-command.js';
import { commandTypeOf, isServerOnly, MESSAGE_TYPE, messageTypeName } from './message-types.js';
import { failed, readFailureCode, success } from './results.js';
import { PROTOCOL_VERSION_TREES } from './versions.js';

/** A failure that the SDK reports instead of an end. */
export interface HandlerError {
  /** HTTP-style or an SDK code such as 570. */
  readonly code: number;
  readonly message: string;
  readonly stacktrace: string | undefined;
  readonly relatedCommandIndex: number | undefined;
  readonly relatedCommandName: string | undefined;
  /** Name of the type of command, e.g. `Run`. */
  readonly relatedCommandType: string | undefined;
  /** Overrides the next backoff only. */
  readonly nextRetryDelayMs: number | undefined;
  readonly behavior: 'retry' | 'pause' | 'fail';
}

export type HandlerMessage =
  | {
      readonly kind: 'command';
      readonly command: HandlerCommand;
      readonly ackRequested: boolean;
    }
  | {
      readonly kind: 'propose-run-completion';
      readonly completionId: number;
      readonly result: Result;
      readonly ackRequested: boolean;
    }
  | { readonly kind: 'awaiting-on'; readonly awaitingOn: AwaitTree }
  | { readonly kind: 'suspension'; readonly awaitingOn: AwaitTree }
  | { readonly kind: 'error'; readonly error: HandlerError }
  | { readonly kind: 'end' }
  | ProtocolFault;

const PROPOSAL_FAILURE_FIELD = 15;

/** Error behaviors by their number on the wire; unknown ones mean retry. */
const BEHAVIORS: readonly HandlerError['behavior'][] = ['retry', 'pause', 'fail'];

/**
 * Decodes a frame of the response under the negotiated version. Views in the result share the memory of the payload.
 *
 * Faults: a frame that only the server sends, an unknown type, bytes that do not decode, a missing part, far too many parts (RT0012),
 * an await tree that is too deep (RT0025).
 */
export function decodeHandlerMessage(frame: Frame, version: number): HandlerMessage {
  try {
    return decode(frame, version);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'not a message';
    const trouble = error instanceof MessageFault ? reason : `cannot be decoded: ${reason}`;
    return violation(`${nameOf(frame.type)}: ${trouble}`);
  }
}

function decode(frame: Frame, version: number): HandlerMessage {
  const { type, payload, ackRequested } = frame;
  const commandType = commandTypeOf(type);
  if (commandType !== undefined) {
    return { kind: 'command', command: decodeCommand(commandType, payload), ackRequested };
  }
  switch (type) {
    case MESSAGE_TYPE.output:
      return { kind: 'command', command: decodeOutput(payload), ackRequested };
    case MESSAGE_TYPE.proposeRunCompletion:
      return decodeProposal(frame);
    case MESSAGE_TYPE.end:
      return { kind: 'end' };
    case MESSAGE_TYPE.suspension:
      return suspension(
        version < PROTOCOL_VERSION_TREES
          ? decodeFlatSuspension(payload)
          : decodeTreeMessage(payload, SUSPENSION_TREE_FIELD),
      );
    case MESSAGE_TYPE.error:
      return { kind: 'error', error: decodeError(payload, version) };
    case MESSAGE_TYPE.awaitingOn:
      return version < PROTOCOL_VERSION_TREES
        ? violation(`AwaitingOn does not exist in version ${version.toString()}`)
        : awaiting(decodeTreeMessage(payload, AWAITING_ON_TREE_FIELD));
    default:
      return violation(
        isServerOnly(type) || type === MESSAGE_TYPE.input
          ? `only the server sends ${nameOf(type)}`
          : `unknown message type ${nameOf(type)}`,
      );
  }
}

function suspension(decoded: DecodedTree): HandlerMessage {
  return decoded.kind === 'fault' ? decoded : { kind: 'suspension', awaitingOn: decoded.tree };
}

function awaiting(decoded: DecodedTree): HandlerMessage {
  return decoded.kind === 'fault' ? decoded : { kind: 'awaiting-on', awaitingOn: decoded.tree };
}

function decodeProposal({ payload, ackRequested }: Frame): HandlerMessage {
  refuseCrowd(payload, PROPOSAL_FAILURE_FIELD);
  const { resultCompletionId, result } = ProposeRunCompletion.decode(payload);
  const proposal = { kind: 'propose-run-completion', completionId: resultCompletionId } as const;
  if (result === undefined) return violation('ProposeRunCompletion: result is missing');
  switch (result.$case) {
    case 'value':
      return { ...proposal, result: success(result.value), ackRequested };
    case 'failure':
      return { ...proposal, result: failed(result.value), ackRequested };
    default:
      return assertNever(result);
  }
}

function decodeError(payload: Uint8Array, version: number): HandlerError {
  const error = WireError.decode(payload);
  const type = error.relatedCommandType;
  return {
    code: readFailureCode(error.code),
    message: error.message,
    stacktrace: error.stacktrace === '' ? undefined : error.stacktrace,
    relatedCommandIndex: error.relatedCommandIndex,
    relatedCommandName: error.relatedCommandName === '' ? undefined : error.relatedCommandName,
    relatedCommandType: type === undefined ? undefined : nameOf(type),
    nextRetryDelayMs:
      error.nextRetryDelay === undefined ? undefined : delayMs(error.nextRetryDelay),
    behavior: version < PROTOCOL_VERSION_TREES ? 'retry' : (BEHAVIORS[error.behavior] ?? 'retry'),
  };
}

function delayMs(delay: bigint): number {
  return delay > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(delay);
}

function nameOf(type: number): string {
  return messageTypeName(type) ?? `0x${type.toString(16).padStart(4, '0')}`;
}
