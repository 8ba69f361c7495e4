/** The state of objects and workflows. */

import { EngineError, limits, type OperationOutcome } from '@engine/domain';
import type { AdminContext } from '../context.js';
import { STATE_BODY_BYTES_MAX } from '../limits.js';
import { HttpProblem } from './problem.js';
import { pathText, readBody } from './request.js';
import type { Route } from './routes.js';
import { stateBody } from './service-bodies.js';

export function stateRoutes({ schemas, states }: AdminContext): Route[] {
  return [
    {
      method: 'post',
      path: '/services/:service/state',
      bodyBytesMax: STATE_BODY_BYTES_MAX,
      handle: async (request, response) => {
        const service = pathText(request, 'service');
        const body = readBody(request, stateBody);
        const entries = Object.entries(body.new_state).map(([key, value]) => ({ key, value }));
        const type = schemas.current.service(service)?.service.type;
        checkTarget(service, type, entries.length);
        checkScope(body.scope ?? undefined);
        checkSize(entries.length);
        const outcome = await states.replace({
          service,
          key: body.object_key,
          expectedVersion: body.version ?? undefined,
          entries,
        });
        checkOutcome(outcome);
        response.status(202).end();
      },
    },
  ];
}

/** What a service left behind that is gone may still be cleared. Errors: `bad-request`, `not-found`. */
function checkTarget(service: string, type: string | undefined, entryCount: number): void {
  if (type === 'service') {
    throw new EngineError(
      'bad-request',
      `service '${service}' has no state: it is a plain service`,
    );
  }
  if (type === undefined && entryCount > 0) {
    throw new EngineError('not-found', `unknown service '${service}'`);
  }
}

/** One decision writes them all. Errors: 413. */
function checkSize(entryCount: number): void {
  const max = limits.STATE_REPLACEMENT_ENTRIES_MAX;
  if (entryCount <= max) return;
  throw new HttpProblem(413, `the state has more than ${String(max)} entries`);
}

/** Errors: RT0024 (interface §8). */
function checkScope(scope: string | undefined): void {
  if (scope === undefined) return;
  throw new EngineError(
    'RT0024',
    `no scope '${scope}': flow control is not enabled on this server`,
  );
}

/** A version that is not the right one is no failure: the request is dropped when its turn comes. Errors: `overloaded`. */
function checkOutcome(outcome: OperationOutcome): void {
  switch (outcome) {
    case 'done':
    case 'appended':
    case 'unchanged':
      return;
    case 'limit-reached':
      throw new EngineError('overloaded', 'too much waits for this key already; try again later');
    default:
      throw new EngineError('internal', `the state was not replaced: ${outcome}`);
  }
}
