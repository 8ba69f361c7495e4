/** From bodies of requests to what the rules of deployments take. */

import { EngineError, type Deployment } from '@engine/domain';
import { checkArn } from '../deployments/arn.js';
import type { RegistrationRequest } from '../deployments/registration.js';
import type { UpdateRequest } from '../deployments/update.js';
import type { Dialect } from '../dialect.js';
import type { Destination } from '../discovery/discover.js';
import { normalizeUri } from '../discovery/endpoint.js';
import type { RegistrationBody, UpdateBody } from './deployment-bodies.js';
import { HttpProblem } from './problem.js';

/** Errors: `bad-request` for a bad destination or `auth`, 422 without a destination. */
export function registrationRequest(body: RegistrationBody, dialect: Dialect): RegistrationRequest {
  return {
    destination: registeredDestination(body),
    additionalHeaders: body.additional_headers ?? {},
    metadata: body.metadata ?? {},
    force: body.force ?? dialect.forceIsDefault,
    breaking: body.breaking,
  };
}

/** Undefined when nothing would change. Errors: `bad-request` for a bad destination, or one of the other kind. */
export function updateRequest(
  before: Deployment,
  body: UpdateBody,
  dialect: Dialect,
): UpdateRequest | undefined {
  const destination = updatedDestination(before, body);
  const headers = body.additional_headers ?? undefined;
  if (destination === undefined && headers === undefined) return undefined;
  return {
    before,
    destination: destination ?? currentDestination(before),
    additionalHeaders: headers ?? before.additionalHeaders,
    overwrite: body.overwrite,
    mustBeSimilar: dialect.updateKeeps === 'services',
  };
}

function registeredDestination(body: RegistrationBody): Destination {
  if (typeof body.uri === 'string') {
    if (body.auth !== undefined && body.auth !== null) throw unsupportedAuth();
    return { kind: 'http', uri: normalizeUri(body.uri), useHttp11: body.use_http_11 };
  }
  if (typeof body.arn === 'string') {
    const assumeRoleArn = body.assume_role_arn ?? undefined;
    return { kind: 'lambda', arn: checkArn(body.arn), assumeRoleArn };
  }
  throw new HttpProblem(422, "the body has neither 'uri' nor 'arn'");
}

/** An address of the other kind moves the deployment there; undefined when the body names nothing of an address. */
function updatedDestination(before: Deployment, body: UpdateBody): Destination | undefined {
  const current = currentDestination(before);
  if (typeof body.uri === 'string') {
    const useHttp11 = body.use_http_11 ?? (current.kind === 'http' && current.useHttp11);
    return { kind: 'http', uri: normalizeUri(body.uri), useHttp11 };
  }
  const { use_http_11: useHttp11, assume_role_arn: role } = body;
  if (typeof body.arn === 'string') {
    const assumeRoleArn = role ?? (current.kind === 'lambda' ? current.assumeRoleArn : undefined);
    return { kind: 'lambda', arn: checkArn(body.arn), assumeRoleArn };
  }
  if (typeof useHttp11 === 'boolean') {
    if (current.kind !== 'http') throw wrongKind('use_http_11', 'a function');
    return { ...current, useHttp11 };
  }
  if (typeof role === 'string') {
    if (current.kind !== 'lambda') throw wrongKind('assume_role_arn', 'an HTTP endpoint');
    return { ...current, assumeRoleArn: role };
  }
  return undefined;
}

function currentDestination({ endpoint }: Deployment): Destination {
  switch (endpoint.kind) {
    case 'http': {
      const useHttp11 = endpoint.httpVersion === 'HTTP/1.1';
      return { kind: 'http', uri: endpoint.uri, useHttp11 };
    }
    case 'lambda':
      return { kind: 'lambda', arn: endpoint.arn, assumeRoleArn: endpoint.assumeRoleArn };
  }
}

function wrongKind(field: string, kind: string): EngineError {
  return new EngineError('bad-request', `bad field '${field}': the deployment is ${kind}`);
}

function unsupportedAuth(): EngineError {
  return new EngineError(
    'bad-request',
    "bad field 'auth': not supported by this server; send what the endpoint asks for in 'additional_headers'",
  );
}
