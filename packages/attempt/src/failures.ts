/** The failures that an attempt itself finds, with their documented codes. */
import type { AttemptFailure, ErrorCode } from '@engine/domain';
import type { HandlerError } from '@engine/service-protocol';

/** Code of every failure that is not the handler's own. */
const INTERNAL = 500;
const UNSUPPORTED_MEDIA_TYPE = 415;
const JOURNAL_MISMATCH = 570;
const PROTOCOL_VIOLATION = 571;

/** A failure found by the server. */
export function serverFailure(docCode: ErrorCode, message: string): AttemptFailure {
  return {
    code: docCode === 'RT0015' ? UNSUPPORTED_MEDIA_TYPE : INTERNAL,
    docCode,
    message,
    stacktrace: undefined,
    relatedCommandIndex: undefined,
    relatedCommandName: undefined,
    relatedCommandType: undefined,
  };
}

/** A failure that the SDK reported. */
export function reportedFailure(error: HandlerError): AttemptFailure {
  return {
    code: error.code,
    docCode: docCodeOf(error.code),
    message: error.message,
    stacktrace: error.stacktrace,
    relatedCommandIndex: error.relatedCommandIndex,
    relatedCommandName: error.relatedCommandName,
    relatedCommandType: error.relatedCommandType,
  };
}

function docCodeOf(code: number): ErrorCode {
  switch (code) {
    case JOURNAL_MISMATCH:
      return 'RT0016';
    case PROTOCOL_VIOLATION:
      return 'RT0012';
    default:
      return 'RT0007';
  }
}
