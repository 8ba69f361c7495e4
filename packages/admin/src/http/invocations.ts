/** Operations on one invocation. */

import { EngineError, type InvocationId, type OperationOutcome } from '@engine/domain';
import { assertNever } from '@engine/stdx';
import type { AdminContext } from '../context.js';
import { HttpProblem } from './problem.js';
import { pathInvocationId, queryWord } from './request.js';
import type { Route } from './routes.js';

const MODES = ['cancel', 'kill', 'purge', 'Cancel', 'Kill', 'Purge'] as const;

export function invocationRoutes({ operations }: AdminContext): Route[] {
  return [
    {
      method: 'patch',
      path: '/invocations/:invocation/cancel',
      handle: async (request, response) => {
        const id = pathInvocationId(request);
        const outcome = await operations.run('cancel', id);
        response.status(requireSuccess(outcome, id) === 'appended' ? 202 : 200).end();
      },
    },
    {
      method: 'patch',
      path: '/invocations/:invocation/kill',
      handle: async (request, response) => {
        const id = pathInvocationId(request);
        requireSuccess(await operations.run('kill', id), id);
        response.status(200).end();
      },
    },
    {
      method: 'delete',
      path: '/invocations/:invocation',
      // Says nothing of the outcome, also not whether there is such an invocation.
      handle: async (request, response) => {
        const id = pathInvocationId(request);
        const mode = queryWord(request, 'mode', MODES)?.toLowerCase() ?? 'cancel';
        if (mode === 'purge') throw new HttpProblem(501, 'purge is not possible with this server');
        await operations.run(mode === 'kill' ? 'kill' : 'cancel', id);
        response.status(202).end();
      },
    },
  ];
}

/** Errors: `not-found`, `conflict`. */
function requireSuccess(outcome: OperationOutcome, id: InvocationId): 'done' | 'appended' {
  switch (outcome) {
    case 'done':
    case 'appended':
      return outcome;
    case 'not-found':
      throw new EngineError('not-found', `unknown invocation '${id}'`);
    case 'already-completed':
      throw new EngineError('conflict', `invocation '${id}' is already completed`);
    case 'not-completed':
      throw new EngineError('conflict', `invocation '${id}' is not completed yet`);
    default:
      return assertNever(outcome);
  }
}
