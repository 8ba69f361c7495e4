/** Operations on one invocation. */

import type { Request, Response } from 'express';
import type { AdminContext } from '../context.js';
import { OPERATION_KINDS, type Operation, type OperationKind } from '../invocation-operations.js';
import { queryDeploymentChoice } from './deployment-choice.js';
import { requireSuccess, successStatus } from './operation-outcomes.js';
import { pathInvocationId, queryUnsigned, queryWord } from './request.js';
import type { Route } from './routes.js';
import { sendJson } from './send-json.js';

const MODES = ['cancel', 'kill', 'purge', 'Cancel', 'Kill', 'Purge'] as const;

export function invocationRoutes(context: AdminContext): Route[] {
  const routes = new InvocationRoutes(context);
  return [
    ...OPERATION_KINDS.map((kind): Route => ({
      method: 'patch',
      path: `/invocations/:invocation/${kind}`,
      handle: (request, response) => routes.operate(kind, request, response),
    })),
    { method: 'delete', path: '/invocations/:invocation', handle: routes.delete },
  ];
}

class InvocationRoutes {
  readonly #context: AdminContext;

  constructor(context: AdminContext) {
    this.#context = context;
  }

  async operate(kind: OperationKind, request: Request, response: Response): Promise<void> {
    const { operations } = this.#context;
    const id = pathInvocationId(request);
    const operation = queryOperation(kind, request);
    const target = operations.target(id);
    const success = requireSuccess(kind, await operations.run(operation, target), id);
    response.status(successStatus(kind, success));
    if (kind === 'restart-as-new') {
      sendJson(response, { new_invocation_id: target.newInvocationId });
    } else {
      response.end();
    }
  }

  /** Says nothing of the outcome, also not whether there is such an invocation. */
  readonly delete = async (request: Request, response: Response): Promise<void> => {
    const { operations } = this.#context;
    const id = pathInvocationId(request);
    const mode = queryWord(request, 'mode', MODES)?.toLowerCase() ?? 'cancel';
    const kind = mode === 'kill' || mode === 'purge' ? mode : 'cancel';
    await operations.run({ kind }, operations.target(id));
    response.status(202).end();
  };
}

/** Errors: `bad-request` for a bad query string. */
function queryOperation(kind: OperationKind, request: Request): Operation {
  switch (kind) {
    case 'resume':
      return { kind, deployment: queryDeploymentChoice(request, 'keep') };
    case 'restart-as-new': {
      const copyUpTo = queryUnsigned(request, 'from') ?? 0;
      return { kind, copyUpTo, deployment: queryDeploymentChoice(request, 'latest') };
    }
    default:
      return { kind };
  }
}
