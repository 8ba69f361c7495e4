/** Asks an endpoint what it serves. */

import { EngineError, type HttpVersion } from '@engine/domain';
import { delay, type Random, type Scheduler } from '@engine/runtime';
import {
  DISCOVER_SUFFIX,
  DISCOVERY_ACCEPT,
  joinPath,
  readDiscovery,
  type Discovery,
} from '@engine/service-protocol';
import {
  DISCOVERY_JITTER_MAX,
  DISCOVERY_REQUEST_MS_MAX,
  DISCOVERY_RETRIES_MAX,
  DISCOVERY_RETRY_MS,
} from '../limits.js';
import { ExchangeError, type EndpointRequest, type EndpointResponse } from './exchange.js';
import { http1Exchange } from './http1-exchange.js';
import { http2Exchange } from './http2-exchange.js';
import { tlsExchange } from './tls-exchange.js';

export interface DiscoverOptions {
  /** In normal form. */
  readonly uri: string;
  /** HTTP/1.1 whatever the endpoint could do. */
  readonly useHttp11: boolean;
  readonly additionalHeaders: Readonly<Record<string, string>>;
}

export interface DiscoveredEndpoint {
  readonly discovery: Discovery;
  /** Version of the answer; invocations will use it too. */
  readonly httpVersion: HttpVersion;
}

/**
 * Effects: one GET, a few more if the endpoint seems to be down for the moment.
 * Errors: META0003, META0012–META0015, META0005, `bad-request`, `internal` (interface §7.1).
 */
export type Discover = (options: DiscoverOptions) => Promise<DiscoveredEndpoint>;

export interface DiscoverDependencies {
  readonly clusterName: string;
  readonly scheduler: Scheduler;
  readonly random: Random;
}

/** Statuses that may pass. */
const PASSING_STATUSES = new Set([408, 429, 500, 502, 503, 504]);

export function createDiscover(dependencies: DiscoverDependencies): Discover {
  return async (options) => {
    const response = await persist(() => exchangeOnce(options, dependencies), dependencies);
    if (response.status < 200 || response.status > 299) throw statusError(response.status, options);
    const discovery = readDiscovery({
      contentType: response.contentType,
      body: response.body,
      sdkVersion: response.server,
      canStreamBothWays: response.canStreamBothWays,
    });
    if (discovery.kind === 'discovered') return { discovery, httpVersion: response.httpVersion };
    const condition = discovery.httpStatus === 400 ? 'bad-request' : 'internal';
    throw new EngineError(discovery.code ?? condition, discovery.message);
  };
}

async function exchangeOnce(
  options: DiscoverOptions,
  { clusterName }: DiscoverDependencies,
): Promise<EndpointResponse> {
  const url = new URL(options.uri);
  const request: EndpointRequest = {
    origin: new URL(url.origin),
    target: joinPath(`${url.pathname}${url.search}`, DISCOVER_SUFFIX),
    headers: {
      accept: DISCOVERY_ACCEPT,
      ...credentials(url),
      ...options.additionalHeaders,
      'x-restate-cluster-name': clusterName,
    },
    signal: AbortSignal.timeout(DISCOVERY_REQUEST_MS_MAX),
  };
  if (options.useHttp11) return http1Exchange(request);
  return url.protocol === 'https:' ? tlsExchange(request) : http2Exchange(request);
}

/** Repeats what failed in a way that may pass, with growing waits. */
async function persist(
  attempt: () => Promise<EndpointResponse>,
  { scheduler, random }: DiscoverDependencies,
): Promise<EndpointResponse> {
  for (let retries = 0; ; retries += 1) {
    const outcome = await attempt().catch(asExchangeError);
    const mayPass =
      outcome instanceof ExchangeError
        ? outcome.fault === 'unreachable'
        : PASSING_STATUSES.has(outcome.status);
    if (!mayPass || retries === DISCOVERY_RETRIES_MAX) {
      if (outcome instanceof ExchangeError) throw unreachable(outcome);
      return outcome;
    }
    const waitMs = DISCOVERY_RETRY_MS * 2 ** retries;
    await delay(scheduler, waitMs * (1 + random.float() * DISCOVERY_JITTER_MAX));
  }
}

function asExchangeError(error: unknown): ExchangeError {
  if (error instanceof ExchangeError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ExchangeError('unusable', message, error);
}

function unreachable(error: ExchangeError): EngineError {
  if (error.fault === 'speaks-http1') {
    const hint = 'it may speak HTTP/1.1 only: try again with use_http_11';
    return new EngineError('META0014', `the endpoint does not speak HTTP/2; ${hint}`, {
      cause: error,
    });
  }
  return new EngineError('META0003', `the endpoint cannot be reached: ${error.message}`, {
    cause: error,
  });
}

function statusError(status: number, { uri }: DiscoverOptions): EngineError {
  const hint = status === 404 ? '; is the path of the uri the one where the SDK is mounted?' : '';
  return new EngineError(
    'META0003',
    `the endpoint at ${uri} answered discovery with status ${String(status)}${hint}`,
  );
}

function credentials({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}
