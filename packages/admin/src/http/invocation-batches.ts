/** One operation on a list of invocations, answered when all are done. For more, see `batch-operations.ts`. */

import {
  EngineError,
  isEngineError,
  parseInvocationId,
  type DeploymentChoice,
  type InvocationId,
} from '@engine/domain';
import type { Request } from 'express';
import { z } from 'zod';
import { concurrently } from '../batch/concurrently.js';
import type { AdminContext } from '../context.js';
import { OPERATION_KINDS, type Operation, type OperationKind } from '../invocation-operations.js';
import { BATCH_INVOCATIONS_MAX, BATCH_OPERATIONS_CONCURRENT_MAX } from '../limits.js';
import { parseDeploymentChoice } from './deployment-choice.js';
import { requireSuccess } from './operation-outcomes.js';
import { HttpProblem } from './problem.js';
import { readBody } from './request.js';
import type { Route } from './routes.js';
import { sendJson } from './send-json.js';

/** An invocation id, checked. */
export const invocationIdText = z.string().transform((text, check): InvocationId => {
  const parsed = parseInvocationId(text);
  if (parsed.kind === 'ok') return parsed.id;
  check.addIssue({ code: 'custom', message: `bad invocation id '${text}': ${parsed.reason}` });
  return z.NEVER;
});

const plainBody = z.object({ invocation_ids: z.array(invocationIdText) });
const choosingBody = plainBody.extend({ deployment: z.string().nullish() });

type Succeeded =
  | InvocationId
  | { readonly old_invocation_id: InvocationId; readonly new_invocation_id: InvocationId };

interface Batch {
  readonly ids: readonly InvocationId[];
  readonly operation: Operation;
}

interface Failed {
  readonly invocation_id: InvocationId;
  readonly error: string;
}

type Answer =
  | { readonly kind: 'succeeded'; readonly entry: Succeeded }
  | { readonly kind: 'failed'; readonly entry: Failed };

export function invocationBatchRoutes(context: AdminContext): Route[] {
  return OPERATION_KINDS.map((kind): Route => ({
    method: 'post',
    path: `/internal/invocations_batch_operations/${kind}`,
    handle: async (request, response) => {
      sendJson(response, await runBatch(context, kind, readBatch(kind, request)));
    },
  }));
}

async function runBatch(
  { operations }: AdminContext,
  kind: OperationKind,
  { ids, operation }: Batch,
): Promise<{ readonly succeeded: readonly Succeeded[]; readonly failed: readonly Failed[] }> {
  const operate = async (id: InvocationId): Promise<Answer> => {
    const target = operations.target(id);
    try {
      requireSuccess(kind, await operations.run(operation, target), id);
    } catch (error) {
      return { kind: 'failed', entry: { invocation_id: id, error: expectedMessage(error) } };
    }
    const { newInvocationId } = target;
    const pair = { old_invocation_id: id, new_invocation_id: newInvocationId };
    return { kind: 'succeeded', entry: kind === 'restart-as-new' ? pair : id };
  };
  const answers = await concurrently(ids, BATCH_OPERATIONS_CONCURRENT_MAX, operate);
  return {
    succeeded: answers.flatMap((answer) => (answer.kind === 'succeeded' ? [answer.entry] : [])),
    failed: answers.flatMap((answer) => (answer.kind === 'failed' ? [answer.entry] : [])),
  };
}

/** Errors: 415 and 422 for the body, `bad-request` for too many ids and a bad deployment. */
function readBatch(kind: OperationKind, request: Request): Batch {
  const choosing = kind === 'resume' || kind === 'restart-as-new';
  const body: z.output<typeof choosingBody> = readBody(
    request,
    choosing ? choosingBody : plainBody,
  );
  const ids = body.invocation_ids;
  if (ids.length > BATCH_INVOCATIONS_MAX) {
    throw new EngineError(
      'bad-request',
      `at most ${String(BATCH_INVOCATIONS_MAX)} invocations in one request, got ${String(ids.length)}; ` +
        'POST /batch-operations takes any number by a filter',
    );
  }
  return { ids, operation: operationOf(kind, body.deployment ?? undefined) };
}

function operationOf(kind: OperationKind, deployment: string | undefined): Operation {
  const choice = (otherwise: 'keep' | 'latest'): DeploymentChoice =>
    deployment === undefined ? { kind: otherwise } : parseDeploymentChoice(deployment);
  switch (kind) {
    case 'resume':
      return { kind, deployment: choice('keep') };
    case 'restart-as-new':
      return { kind, copyUpTo: 0, deployment: choice('latest') };
    default:
      return { kind };
  }
}

/** Message of a failure that concerns one invocation; anything else fails the request. */
function expectedMessage(error: unknown): string {
  if (error instanceof HttpProblem || isEngineError(error)) return error.message;
  throw error;
}
