/** Where an attempt goes and how it is spoken to: pinned deployment, else the newest of the service. */

import type {
  AttemptFailure,
  Deployment,
  DeploymentPin,
  ErrorCode,
  Invocation,
  ResolvedHandler,
  RetryPolicy,
  SchemaLookup,
} from '@engine/domain';
import type { AttemptMode } from '@engine/attempt';
import { canResume, isSupportedVersion, negotiateVersion } from '@engine/service-protocol';

import type { AttemptRoom } from './attempt-room.js';

export interface Route {
  readonly kind: 'route';
  readonly deployment: Deployment;
  readonly pin: DeploymentPin;
  readonly mode: AttemptMode;
  /** Undefined when the deployment does not know the handler: it will say so itself. */
  readonly handler: ResolvedHandler | undefined;
}

export interface NoRoute {
  readonly kind: 'no-route';
  readonly failure: AttemptFailure;
}

/** Errors, all to be retried: RT0011 no deployment, RT0013 no common version, RT0014 pinned version not spoken any more. */
export function chooseDeployment(schema: SchemaLookup, row: Invocation): Route | NoRoute {
  const { pin } = row;
  return pin === undefined ? chooseNewest(schema, row) : choosePinned(schema, row, pin);
}

function chooseNewest(schema: SchemaLookup, row: Invocation): Route | NoRoute {
  const { service } = row.target;
  const resolved = schema.service(service);
  if (resolved === undefined) {
    return noRoute('RT0011', `no deployment serves '${service}'`);
  }
  const { deployment } = resolved;
  const protocolVersion = negotiateVersion(rangeOf(deployment));
  if (protocolVersion === undefined) {
    return noRoute(
      'RT0013',
      `deployment ${deployment.id} speaks no protocol version of this server`,
    );
  }
  const handler = resolved.handlers.get(row.target.handler);
  return route(deployment, { deploymentId: deployment.id, protocolVersion }, handler);
}

function choosePinned(schema: SchemaLookup, row: Invocation, pin: DeploymentPin): Route | NoRoute {
  const deployment = schema.deployment(pin.deploymentId);
  if (deployment === undefined) {
    return noRoute(
      'RT0011',
      `the invocation stays on deployment ${pin.deploymentId}, which is gone`,
    );
  }
  const version = pin.protocolVersion;
  if (!isSupportedVersion(version) || !canResume(version, rangeOf(deployment))) {
    return noRoute(
      'RT0014',
      `deployment ${deployment.id} cannot resume protocol ${String(version)}`,
    );
  }
  const resolved = schema.serviceOf(pin.deploymentId, row.target.service);
  return route(deployment, pin, resolved?.handlers.get(row.target.handler));
}

function route(
  deployment: Deployment,
  pin: DeploymentPin,
  handler: ResolvedHandler | undefined,
): Route {
  const isBidi = deployment.protocolMode === 'bidi-stream' && handler?.inactivityTimeoutMs !== 0;
  return { kind: 'route', deployment, pin, mode: isBidi ? 'bidi' : 'request-response', handler };
}

function rangeOf(deployment: Deployment): { readonly min: number; readonly max: number } {
  return { min: deployment.minProtocolVersion, max: deployment.maxProtocolVersion };
}

function noRoute(docCode: ErrorCode, message: string): NoRoute {
  return { kind: 'no-route', failure: serverFailure(docCode, message) };
}

/** Of the handler that runs, or would run without a route; of the server when no deployment knows it. */
export function retryPolicy(
  { schema, options }: Pick<AttemptRoom, 'schema' | 'options'>,
  row: Invocation | undefined,
  chosen: Route | undefined,
): RetryPolicy {
  const target = row?.target;
  const handler =
    chosen?.handler ??
    (target === undefined ? undefined : schema().handler(target.service, target.handler));
  return handler?.retryPolicy ?? options.retryPolicy;
}

/** A failure that the server itself found. */
export function serverFailure(docCode: ErrorCode | undefined, message: string): AttemptFailure {
  return {
    code: 500,
    docCode,
    message,
    stacktrace: undefined,
    relatedCommandIndex: undefined,
    relatedCommandName: undefined,
    relatedCommandType: undefined,
  };
}
