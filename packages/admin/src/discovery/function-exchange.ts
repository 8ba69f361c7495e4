import { isEngineError } from '@engine/domain';
import type { FunctionInvoker } from '@engine/lambda';
import { DISCOVER_SUFFIX } from '@engine/service-protocol';
import { EMPTY_BYTES } from '@engine/stdx';
import { DISCOVERY_CALL_MS_MAX } from '../limits.js';
import { ExchangeError, type EndpointAnswer } from './exchange.js';
import { readBody } from './read-body.js';

export interface FunctionQuestion {
  readonly arn: string;
  readonly assumeRoleArn: string | undefined;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One call of a function, which gets a GET in an envelope. Errors: ExchangeError. */
export async function functionExchange(
  question: FunctionQuestion,
  functions: FunctionInvoker,
): Promise<EndpointAnswer> {
  const signal = AbortSignal.timeout(DISCOVERY_CALL_MS_MAX);
  const call = { method: 'GET', path: `/${DISCOVER_SUFFIX}`, body: EMPTY_BYTES } as const;
  try {
    // What it can unpack it has not said yet.
    const answer = await functions.invoke({ ...question, ...call, compression: undefined, signal });
    return {
      status: answer.status,
      contentType: answer.headers['content-type'],
      server: answer.headers['x-restate-server'],
      body: await readBody(answer.body, signal),
      canStreamBothWays: false,
    };
  } catch (error) {
    throw asExchangeError(error, signal);
  }
}

function asExchangeError(error: unknown, signal: AbortSignal): ExchangeError {
  if (error instanceof ExchangeError) return error;
  if (signal.aborted) return new ExchangeError('unusable', 'no answer in time', error);
  const mayPass = isEngineError(error) && error.code === 'unavailable';
  const message = error instanceof Error ? error.message : String(error);
  return new ExchangeError(mayPass ? 'unreachable' : 'unusable', message, error);
}
