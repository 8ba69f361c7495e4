/** Documented error codes (interface §7). Each has a page in docs/errors. */

export const ERROR_CODES = [
  'META0003',
  'META0004',
  'META0005',
  'META0006',
  'META0009',
  'META0010',
  'META0011',
  'META0012',
  'META0013',
  'META0014',
  'META0015',
  'META0016',
  'META0017',
  'RT0001',
  'RT0002',
  'RT0003',
  'RT0004',
  'RT0005',
  'RT0006',
  'RT0007',
  'RT0009',
  'RT0010',
  'RT0011',
  'RT0012',
  'RT0013',
  'RT0014',
  'RT0015',
  'RT0016',
  'RT0017',
  'RT0018',
  'RT0019',
  'RT0020',
  'RT0021',
  'RT0022',
  'RT0023',
  'RT0024',
  'RT0025',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** Conditions without a documented code that still need one word for programs. */
export type ConditionCode =
  | 'bad-request'
  | 'not-found'
  | 'conflict'
  | 'overloaded'
  | 'unavailable'
  | 'storage'
  /** Another leader holds the partition: step down and start again from the store. */
  | 'deposed'
  | 'internal'
  | 'cancelled'
  /** Two nodes of different clusters met. */
  | 'wrong-cluster'
  /** Two nodes met that share no version of what they speak or keep. */
  | 'incompatible';

/**
 * The one error type. Callers compare `code`, never the class (realms differ).
 * `details` are facts for programs and logs; `message` is for people.
 */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly code: ErrorCode | ConditionCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode | ConditionCode,
    message: string,
    options: {
      readonly cause?: unknown;
      readonly details?: Readonly<Record<string, unknown>>;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** True for an EngineError of any realm. */
export function isEngineError(error: unknown): error is EngineError {
  return error instanceof Error && error.name === 'EngineError' && 'code' in error;
}
