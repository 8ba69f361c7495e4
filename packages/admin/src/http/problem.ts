/** Failures of a request and the one body that all of them have (interface §2.6). */

import { isEngineError, type ConditionCode, type EngineError } from '@engine/domain';

/** A failure that only HTTP knows. */
export class HttpProblem extends Error {
  readonly status: number;
  /** Headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

export interface ProblemAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: {
    readonly message: string;
    readonly engine_code: string | null;
    /** The same, under the name that existing clients know. */
    readonly restate_code: string | null;
  };
}

const CONDITIONS: Readonly<Record<ConditionCode, number>> = {
  'bad-request': 400,
  'not-found': 404,
  conflict: 409,
  overloaded: 429,
  unavailable: 503,
  storage: 500,
  deposed: 503,
  internal: 500,
  cancelled: 500,
  'wrong-cluster': 500,
  incompatible: 500,
};

/** Statuses by code. A code that is not here is the fault of the server, or of an endpoint that it asked. */
const STATUSES = new Map<string, number>([
  ...Object.entries(CONDITIONS),
  ['META0004', 409],
  ['META0005', 400],
  ['META0006', 409],
  ['META0009', 400],
  ['META0016', 400],
  ['META0017', 409],
  ['RT0024', 400],
]);

/** Seconds after which it makes sense to ask again. */
export const RETRY_AFTER: Readonly<Record<string, string>> = { 'retry-after': '1' };

const PASSING_STATUSES: ReadonlySet<number> = new Set([429, 503]);

/** The answer that a failed request gets. What nobody expected is a 500 that does not tell its message. */
export function problemAnswer(error: unknown): ProblemAnswer {
  if (error instanceof HttpProblem)
    return { ...plain(error.status, error.message), headers: error.headers };
  if (isEngineError(error)) return codedAnswer(error);
  const status = callerFault(error);
  if (status === undefined) return plain(500, 'internal error');
  return plain(status, error instanceof Error ? error.message : 'bad request');
}

function codedAnswer(error: EngineError): ProblemAnswer {
  const { code, message } = error;
  const answer = plain(STATUSES.get(code) ?? 500, message);
  if (code in CONDITIONS)
    return PASSING_STATUSES.has(answer.status) ? passing(answer, code) : answer;
  const body = { message: `[${code}] ${message}`, engine_code: code, restate_code: code };
  return { ...answer, body };
}

/** Of what is different in a moment. There is no documented code for it; programs are told the condition. */
function passing({ status, body }: ProblemAnswer, condition: string): ProblemAnswer {
  return { status, headers: RETRY_AFTER, body: { ...body, engine_code: condition } };
}

/** Status of failures that express and its body parser made, if the caller is at fault. */
function callerFault(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('status' in error)) return undefined;
  const { status } = error;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : undefined;
}

function plain(status: number, message: string): ProblemAnswer {
  return { status, headers: {}, body: { message, engine_code: null, restate_code: null } };
}
