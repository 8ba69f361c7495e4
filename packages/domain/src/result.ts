/** Outcomes that cross invocations: values and failures as the service protocol carries them. */

export interface FailureMetadata {
  readonly key: string;
  readonly value: string;
}

/** A terminal failure: no retry, goes to every caller. `code` is HTTP-style, 0..65535. */
export interface Failure {
  readonly code: number;
  readonly message: string;
  readonly metadata: readonly FailureMetadata[];
  /** Only on failures that the server made out of a killed retry loop. */
  readonly stacktrace?: string | undefined;
}

/** Result of an invocation, a promise, an awakeable or a signal. */
export type Result =
  | { readonly kind: 'success'; readonly value: Uint8Array }
  | { readonly kind: 'failure'; readonly failure: Failure };

export function failureResult(
  code: number,
  message: string,
): Extract<Result, { readonly kind: 'failure' }> {
  return { kind: 'failure', failure: { code, message, metadata: [] } };
}
