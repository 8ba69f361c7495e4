/** Port to functions: one call is an HTTP exchange in an envelope, answered only when the function is through. */

import type { Readable } from 'node:stream';

export interface FunctionRequest {
  /** Qualified: with version or alias. */
  readonly arn: string;
  /** Role to take on for the call. */
  readonly assumeRoleArn: string | undefined;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** What the function can unpack. */
  readonly compression: 'zstd' | undefined;
  /** Ends the wait for the answer; the function itself goes on. */
  readonly signal: AbortSignal;
}

export interface FunctionResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Unpacked while it is read; fails when it cannot be unpacked. */
  readonly body: Readable;
}

export interface FunctionInvoker {
  /**
   * Calls a function once. That it is asked too much, or too fast, is told as a response: status 413, status 429 with the
   * `retry-after` that AWS gave.
   *
   * Errors: EngineError `unavailable` when AWS could not be reached, which may pass; RT0010 when the call was refused, the
   * function failed, or its answer is none.
   */
  invoke(request: FunctionRequest): Promise<FunctionResponse>;
}
