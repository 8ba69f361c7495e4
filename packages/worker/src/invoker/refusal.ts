/** Why the command of a handler is refused, and what the checks look at. */

import type {
  AttemptFailure,
  ErrorCode,
  Hashes,
  InvocationTarget,
  SchemaLookup,
} from '@engine/domain';
import { commandTypeName, type HandlerCommand } from '@engine/service-protocol';

import type { CalleeIds } from './callee-ids.js';

export interface ResolveContext {
  readonly schema: () => SchemaLookup;
  readonly hashes: Hashes;
  readonly ids: CalleeIds;
  /** Target of the invocation that sent the command. */
  readonly caller: InvocationTarget;
}

export interface Refusal {
  readonly kind: 'refused';
  readonly code: ErrorCode;
  readonly message: string;
}

export function refuse(code: ErrorCode, message: string): Refusal {
  return { kind: 'refused', code, message };
}

/** The failure of an attempt whose command is refused. */
export function refusalFailure(
  refusal: Refusal,
  command: HandlerCommand,
  commandIndex: number,
): AttemptFailure {
  return {
    code: 500,
    docCode: refusal.code,
    message: refusal.message,
    stacktrace: undefined,
    relatedCommandIndex: commandIndex,
    relatedCommandName: command.name === '' ? undefined : command.name,
    relatedCommandType: command.type === 'output' ? 'Output' : commandTypeName(command.type),
  };
}
