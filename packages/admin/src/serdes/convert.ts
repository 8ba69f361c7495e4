/** Asks a deployment to read or write a payload in the way of its handlers: raw bytes to JSON, or JSON to raw bytes. */

import { EngineError, type Deployment } from '@engine/domain';
import type { FunctionInvoker } from '@engine/lambda';
import type { RequestSigner } from '@engine/request-identity';
import { joinPath } from '@engine/service-protocol';
import { credentials, exchangeOver } from '../discovery/http-exchange.js';
import { readBody } from '../discovery/read-body.js';
import { SERDES_REQUEST_MS_MAX } from '../limits.js';

export type Direction = 'decode' | 'encode';

export interface Conversion {
  readonly service: string;
  readonly direction: Direction;
  /** Name of the serde; may have slashes. */
  readonly name: string;
  readonly payload: Uint8Array;
}

export interface ConvertDependencies {
  readonly clusterName: string;
  readonly functions: FunctionInvoker;
  /** Undefined: requests are not signed. */
  readonly signer: RequestSigner | undefined;
}

/** Errors: `internal` when the deployment does not answer with a payload, which is usual: few SDKs offer this. */
export type Convert = (deployment: Deployment, conversion: Conversion) => Promise<Uint8Array>;

const TYPES: Readonly<Record<Direction, Readonly<Record<string, string>>>> = {
  decode: { 'content-type': 'application/octet-stream', accept: 'application/json' },
  encode: { 'content-type': 'application/json', accept: '*/*' },
};

export function createConvert(dependencies: ConvertDependencies): Convert {
  return async (deployment, conversion) => {
    const answer = await ask(deployment, conversion, dependencies).catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new EngineError('internal', `the deployment cannot be asked: ${reason}`, { cause });
    });
    if (answer.status >= 200 && answer.status <= 299) return answer.body;
    throw new EngineError(
      'internal',
      `the deployment does not ${conversion.direction} '${conversion.name}': status ${String(answer.status)}`,
    );
  };
}

interface Answer {
  readonly status: number;
  readonly body: Uint8Array;
}

async function ask(
  { endpoint, additionalHeaders }: Deployment,
  { service, direction, name, payload }: Conversion,
  { clusterName, functions, signer }: ConvertDependencies,
): Promise<Answer> {
  const suffix = ['serdes', service, direction, ...name.split('/')]
    .map(encodeURIComponent)
    .join('/');
  const headers = {
    ...TYPES[direction],
    ...additionalHeaders,
    ...signer?.sign(`/${suffix}`, undefined),
    'x-restate-serdes-protocol': 'v1',
    'x-restate-cluster-name': clusterName,
  };
  const signal = AbortSignal.timeout(SERDES_REQUEST_MS_MAX);
  if (endpoint.kind === 'lambda') {
    const call = { method: 'POST', path: `/${suffix}`, headers, body: payload, signal } as const;
    const { status, body } = await functions.invoke({ ...endpoint, ...call });
    return { status, body: await readBody(body, signal) };
  }
  const url = new URL(endpoint.uri);
  return exchangeOver(
    { useHttp11: endpoint.httpVersion === 'HTTP/1.1' },
    {
      origin: new URL(url.origin),
      target: joinPath(`${url.pathname}${url.search}`, suffix),
      headers: { ...credentials(url), ...headers },
      body: payload,
      signal,
    },
  );
}
