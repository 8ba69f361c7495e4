/** Failures as one text, the way people read them in tables. */

import type { AttemptFailure, Failure } from '@engine/domain';

const LABELS: Readonly<Record<number, string>> = {
  400: 'Bad request',
  404: 'Not found',
  409: 'Conflict',
  410: 'Gone',
  415: 'Unsupported media type',
  470: 'Not ready',
  500: 'Internal',
  570: 'Journal mismatch',
  571: 'Protocol violation',
  573: 'Unsupported feature',
};

/** `[500 Internal] message`, then the stack trace if there is one. */
export function attemptFailureText(failure: AttemptFailure): string {
  const label = LABELS[failure.code];
  const code = label === undefined ? String(failure.code) : `${String(failure.code)} ${label}`;
  const text = `[${code}] ${failure.message}`;
  return failure.stacktrace === undefined ? text : `${text}\n${failure.stacktrace}`;
}

/** `[409] killed`. */
export function completionFailureText(failure: Failure): string {
  return `[${String(failure.code)}] ${failure.message}`;
}
