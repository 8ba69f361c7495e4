/** Calls functions on AWS Lambda with the AWS SDK. */

import { EngineError, isEngineError } from '@engine/domain';
import type { Clock } from '@engine/runtime';

import { FunctionClients, type AwsOptions } from './function-clients.js';
import type { FunctionInvoker, FunctionRequest, FunctionResponse } from './function-invoker.js';
import { ERROR_TEXT_LENGTH_MAX } from './limits.js';
import { decodeResponse, emptyResponse, encodeRequest } from './payload.js';

export interface LambdaOptions extends AwsOptions {
  /** Bodies from this size on are compressed if the function can unpack them. */
  readonly compressionThresholdBytes: number;
}

export class LambdaInvoker implements FunctionInvoker, Disposable {
  readonly #compressionThresholdBytes: number;
  readonly #clients: FunctionClients;

  constructor(options: LambdaOptions, clock: Clock) {
    this.#compressionThresholdBytes = options.compressionThresholdBytes;
    this.#clients = new FunctionClients(options, clock);
  }

  async invoke(request: FunctionRequest): Promise<FunctionResponse> {
    const payload = await encodeRequest(request, this.#compressionThresholdBytes);
    if (payload === undefined) return emptyResponse(413, {});
    const answer = await this.#send(request, payload);
    return answer instanceof Uint8Array ? decodeResponse(answer) : answer;
  }

  /** Breaks off what is under way. */
  [Symbol.dispose](): void {
    this.#clients[Symbol.dispose]();
  }

  async #send(
    request: FunctionRequest,
    payload: Uint8Array,
  ): Promise<Uint8Array | FunctionResponse> {
    const client = await this.#clients.of(request);
    const { InvokeCommand } = await import('@aws-sdk/client-lambda');
    const command = new InvokeCommand({
      FunctionName: request.arn,
      InvocationType: 'RequestResponse',
      Payload: payload,
    });
    const answer = await client
      .send(command, { abortSignal: request.signal })
      .catch((error: unknown) => refusal(error));
    if ('body' in answer) return answer;
    const returned = answer.Payload ?? new Uint8Array();
    if (answer.FunctionError !== undefined) throw functionError(answer.FunctionError, returned);
    return returned;
  }
}

/** What the SDK tells with its errors, as far as it is looked at. */
interface SdkError extends Error {
  readonly $metadata?: { readonly httpStatusCode?: number | undefined };
  readonly retryAfterSeconds?: string | undefined;
}

/** What AWS itself says instead of the function. Errors: as `invoke`. */
function refusal(thrown: unknown): FunctionResponse {
  if (isEngineError(thrown)) throw thrown;
  const error: SdkError = thrown instanceof Error ? thrown : new Error(String(thrown));
  const status = error.$metadata?.httpStatusCode;
  if (status === 413) return emptyResponse(413, {});
  if (status === 429) {
    const { retryAfterSeconds } = error;
    return emptyResponse(
      429,
      retryAfterSeconds === undefined ? {} : { 'retry-after': retryAfterSeconds },
    );
  }
  const text = `the function cannot be invoked: ${describe(error)}`;
  throw new EngineError(mayPass(error, status) ? 'unavailable' : 'RT0010', text, { cause: error });
}

/** What the SDK says when it does not know who we are, or when the caller has gone. */
const NOT_TRIED = new Set(['CredentialsProviderError', 'AbortError']);

function mayPass(error: Error, status: number | undefined): boolean {
  if (status !== undefined) return status >= 500;
  // Without a status the connection failed, unless the SDK did not even try.
  return !NOT_TRIED.has(error.name);
}

/** Name and text: AWS says in the name what it is, and has no text for some. */
function describe(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  const text = error.message === '' ? code : `${code}: ${error.message}`;
  return text.slice(0, ERROR_TEXT_LENGTH_MAX);
}

/** `kind`: `Unhandled` or `Handled`. The payload is a JSON object with `errorType` and `errorMessage`, as a rule. */
function functionError(kind: string, payload: Uint8Array): EngineError {
  const text = errorText(Buffer.from(payload).toString('utf8', 0, 4 * ERROR_TEXT_LENGTH_MAX));
  return new EngineError('RT0010', `the function failed (${kind}): ${text}`);
}

function errorText(payload: string): string {
  try {
    const { errorType, errorMessage } = JSON.parse(payload) as Record<string, unknown>;
    if (typeof errorMessage === 'string') {
      const text = typeof errorType === 'string' ? `${errorType}: ${errorMessage}` : errorMessage;
      return text.slice(0, ERROR_TEXT_LENGTH_MAX);
    }
  } catch {
    // Then as it is.
  }
  return payload.slice(0, ERROR_TEXT_LENGTH_MAX);
}
