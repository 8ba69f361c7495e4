/** Reading of requests: bodies, query strings, ids in paths. */

import {
  EngineError,
  parseDeploymentId,
  requireInvocationId,
  type DeploymentId,
  type InvocationId,
} from '@engine/domain';
import type { Request } from 'express';
import type { z } from 'zod';
import { HttpProblem } from './problem.js';

const JSON_TYPE = /^application\/([^;\s]+\+)?json\s*(;|$)/i;
const UNSIGNED_MAX = 2 ** 32 - 1;

/**
 * The JSON body in the shape of `schema`; members that it does not name are dropped.
 * Errors: 415 without a JSON content type, 400 when the text is no JSON, 422 when it has another shape.
 */
export function readBody<Schema extends z.ZodType>(
  request: Request,
  schema: Schema,
): z.output<Schema> {
  const { body } = request as { readonly body: unknown };
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '') || !(body instanceof Uint8Array)) {
    throw new HttpProblem(415, "expected a body with 'content-type: application/json'");
  }
  const parsed = schema.safeParse(parseJson(body));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.map(String).join('.') ?? '';
  throw new HttpProblem(
    422,
    `the body does not fit${place === '' ? '' : ` at '${place}'`}: ${issue?.message ?? ''}`,
  );
}

/** Any text. Errors: `bad-request` when it is given more than once. */
export function queryText(request: Request, name: string): string | undefined {
  const value = request.query[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new EngineError('bad-request', `query parameter '${name}' must be given once`);
}

/** `true` or `false`; anything else is refused with 400. */
export function queryBoolean(request: Request, name: string): boolean | undefined {
  const value = request.query[name];
  if (value === undefined) return undefined;
  if (value === 'true') return true;
  if (value === 'false') return false;
  throw new EngineError('bad-request', `query parameter '${name}' must be true or false`);
}

/** One of `values`; anything else is refused with 400. */
export function queryWord<Word extends string>(
  request: Request,
  name: string,
  values: readonly Word[],
): Word | undefined {
  const value = request.query[name];
  if (value === undefined) return undefined;
  const word = values.find((each) => each === value);
  if (word !== undefined) return word;
  throw new EngineError('bad-request', `query parameter '${name}' must be ${values.join(' or ')}`);
}

/** A whole number of 0 … 2^32 − 1; anything else is refused with 400. */
export function queryUnsigned(request: Request, name: string): number | undefined {
  const value = request.query[name];
  if (value === undefined) return undefined;
  const isDigits = typeof value === 'string' && /^[0-9]{1,10}$/.test(value);
  if (isDigits && Number(value) <= UNSIGNED_MAX) return Number(value);
  throw new EngineError('bad-request', `query parameter '${name}' must be a whole number`);
}

/** A parameter of the path, as text. */
export function pathText(request: Request, name: string): string {
  const value = request.params[name];
  return typeof value === 'string' ? value : '';
}

/** Errors: `bad-request`. */
export function pathDeploymentId(request: Request): DeploymentId {
  return requireDeploymentId(pathText(request, 'deployment'));
}

/** Errors: `bad-request`. */
export function requireDeploymentId(text: string): DeploymentId {
  const parsed = parseDeploymentId(text);
  if (parsed.kind === 'ok') return parsed.id;
  throw new EngineError('bad-request', `bad deployment id '${text}': ${parsed.reason}`);
}

/** Errors: `bad-request`. */
export function pathInvocationId(request: Request): InvocationId {
  return requireInvocationId(pathText(request, 'invocation'));
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown;
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'bad text';
    throw new EngineError('bad-request', `the body is no JSON: ${reason}`, { cause: error });
  }
}
