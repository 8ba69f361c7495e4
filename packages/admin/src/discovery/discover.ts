/** Asks an endpoint what it serves. */

import { EngineError, type DeploymentEndpoint } from '@engine/domain';
import type { FunctionInvoker } from '@engine/lambda';
import type { RequestSigner } from '@engine/request-identity';
import { delay, type Random, type Scheduler } from '@engine/runtime';
import {
  DISCOVER_SUFFIX,
  DISCOVERY_ACCEPT,
  joinPath,
  readDiscovery,
  type Discovery,
} from '@engine/service-protocol';
import { assertNever } from '@engine/stdx';
import {
  DISCOVERY_JITTER_MAX,
  DISCOVERY_REQUEST_MS_MAX,
  DISCOVERY_RETRIES_MAX,
  DISCOVERY_RETRY_MS,
} from '../limits.js';
import {
  ExchangeError,
  type EndpointAnswer,
  type EndpointRequest,
  type EndpointResponse,
} from './exchange.js';
import { functionExchange } from './function-exchange.js';
import { credentials, exchangeOver } from './http-exchange.js';

/** Where an endpoint is asked what it serves. */
export type Destination = HttpDestination | LambdaDestination;

export interface HttpDestination {
  readonly kind: 'http';
  /** In normal form. */
  readonly uri: string;
  /** HTTP/1.1 whatever the endpoint could do. */
  readonly useHttp11: boolean;
}

export interface LambdaDestination {
  readonly kind: 'lambda';
  /** With version or alias. */
  readonly arn: string;
  readonly assumeRoleArn: string | undefined;
}

export interface DiscoverOptions {
  readonly destination: Destination;
  readonly additionalHeaders: Readonly<Record<string, string>>;
}

export interface DiscoveredEndpoint {
  readonly discovery: Discovery;
  /** How invocations will reach it: in the HTTP version of the answer, or as a function. */
  readonly endpoint: DeploymentEndpoint;
}

/**
 * Effects: one GET or call of a function, a few more if the endpoint seems to be down for the moment.
 * Errors: META0003, META0012–META0015, META0005, `bad-request`, `internal` (interface §7.1).
 */
export type Discover = (options: DiscoverOptions) => Promise<DiscoveredEndpoint>;

export interface DiscoverDependencies {
  readonly clusterName: string;
  readonly functions: FunctionInvoker;
  /** Undefined: requests are not signed. */
  readonly signer: RequestSigner | undefined;
  readonly scheduler: Scheduler;
  readonly random: Random;
}

/** Statuses that may pass. */
const PASSING_STATUSES = new Set([408, 429, 500, 502, 503, 504]);

export function createDiscover(dependencies: DiscoverDependencies): Discover {
  return (options) => {
    const { destination } = options;
    switch (destination.kind) {
      case 'http':
        return discoverHttp(destination, options, dependencies);
      case 'lambda':
        return discoverFunction(destination, options, dependencies);
      default:
        return assertNever(destination);
    }
  };
}

async function discoverHttp(
  destination: HttpDestination,
  options: DiscoverOptions,
  dependencies: DiscoverDependencies,
): Promise<DiscoveredEndpoint> {
  const { uri } = destination;
  const response = await persist(() => {
    return exchangeHttp(destination, requestHeaders(options, dependencies));
  }, dependencies);
  const discovery = judge(response, uri, dependencies);
  return { discovery, endpoint: { kind: 'http', uri, httpVersion: response.httpVersion } };
}

async function discoverFunction(
  destination: LambdaDestination,
  options: DiscoverOptions,
  dependencies: DiscoverDependencies,
): Promise<DiscoveredEndpoint> {
  const { arn, assumeRoleArn } = destination;
  const response = await persist(() => {
    const headers = requestHeaders(options, dependencies);
    return functionExchange({ arn, assumeRoleArn, headers }, dependencies.functions);
  }, dependencies);
  const discovery = judge(response, arn, dependencies);
  const compression = discovery.functionCompression;
  return { discovery, endpoint: { kind: 'lambda', arn, assumeRoleArn, compression } };
}

/** `where`: the address, for people. */
function judge(
  response: EndpointAnswer,
  where: string,
  { signer }: DiscoverDependencies,
): Discovery {
  if (response.status < 200 || response.status > 299) {
    throw statusError(response.status, where, signer);
  }
  const discovery = readDiscovery({
    contentType: response.contentType,
    body: response.body,
    sdkVersion: response.server,
    canStreamBothWays: response.canStreamBothWays,
  });
  if (discovery.kind === 'discovered') return discovery;
  const condition = discovery.httpStatus === 400 ? 'bad-request' : 'internal';
  throw new EngineError(discovery.code ?? condition, discovery.message);
}

function requestHeaders(
  { additionalHeaders }: DiscoverOptions,
  { clusterName, signer }: DiscoverDependencies,
): Readonly<Record<string, string>> {
  return {
    accept: DISCOVERY_ACCEPT,
    ...additionalHeaders,
    ...signer?.sign(`/${DISCOVER_SUFFIX}`, undefined),
    'x-restate-cluster-name': clusterName,
  };
}

async function exchangeHttp(
  destination: HttpDestination,
  headers: Readonly<Record<string, string>>,
): Promise<EndpointResponse> {
  const url = new URL(destination.uri);
  const request: EndpointRequest = {
    origin: new URL(url.origin),
    target: joinPath(`${url.pathname}${url.search}`, DISCOVER_SUFFIX),
    headers: { ...credentials(url), ...headers },
    signal: AbortSignal.timeout(DISCOVERY_REQUEST_MS_MAX),
  };
  return exchangeOver(destination, request);
}

/** Repeats what failed in a way that may pass, with growing waits. */
async function persist<Answer extends EndpointAnswer>(
  attempt: () => Promise<Answer>,
  { scheduler, random }: DiscoverDependencies,
): Promise<Answer> {
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

function statusError(
  status: number,
  where: string,
  signer: RequestSigner | undefined,
): EngineError {
  return new EngineError(
    'META0003',
    `the endpoint at ${where} answered discovery with status ${String(status)}${hintFor(status, signer)}`,
  );
}

function hintFor(status: number, signer: RequestSigner | undefined): string {
  if (status === 404) return '; is the path of the uri the one where the SDK is mounted?';
  if (status !== 401) return '';
  return signer === undefined
    ? '; does it want signed requests, or headers that are missing?'
    : `; does it expect requests that are signed with the key of ${signer.publicKey}?`;
}
