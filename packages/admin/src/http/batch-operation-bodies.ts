/** Bodies of requests about batch operations. Unlike elsewhere unknown members are refused: a misspelt one would widen what is hit. */

import { EngineError, parseDeploymentId, type DeploymentId } from '@engine/domain';
import type { BatchFilter, BatchSelection } from '@engine/metadata';
import { SHOWN_STATUSES } from '@engine/wire';
import { z } from 'zod';
import type { BatchRequest } from '../batch/batch-operations.js';
import { OPERATION_KINDS, type Operation } from '../invocation-operations.js';
import { BATCH_INVOCATIONS_MAX } from '../limits.js';
import { parseDeploymentChoice } from './deployment-choice.js';
import { invocationIdText } from './invocation-batches.js';
import { HttpProblem } from './problem.js';

const UNSIGNED_MAX = 2 ** 32 - 1;

const status = z.enum(SHOWN_STATUSES);
const time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const deploymentIdText = z.string().transform((text, check): DeploymentId => {
  const parsed = parseDeploymentId(text);
  if (parsed.kind === 'ok') return parsed.id;
  check.addIssue({ code: 'custom', message: `bad deployment id '${text}': ${parsed.reason}` });
  return z.NEVER;
});

const filter = z
  .strictObject({
    service: z.string().nullish(),
    handler: z.string().nullish(),
    key: z.string().nullish(),
    status: z.union([status, z.array(status).min(1)]).nullish(),
    completion_result: z.enum(['success', 'failure']).nullish(),
    deployment_id: deploymentIdText.nullish(),
    created_after: time.nullish(),
    created_before: time.nullish(),
  })
  .refine(
    (given) => Object.values(given).some((value) => value !== undefined && value !== null),
    'a filter needs at least one condition',
  );

export const batchOperationBody = z.strictObject({
  operation: z.enum(OPERATION_KINDS),
  filter: filter.nullish(),
  invocation_ids: z.array(invocationIdText).nullish(),
  deployment: z.string().nullish(),
  from: z.int().min(0).max(UNSIGNED_MAX).nullish(),
  dry_run: z.boolean().default(false),
});

type Body = z.output<typeof batchOperationBody>;

/** Errors: 422 for members that do not go together, `bad-request` for a bad deployment and too many ids. */
export function batchRequest(body: Body): BatchRequest {
  return {
    operation: operationOf(body),
    selection: selectionOf(body),
    isDryRun: body.dry_run,
  };
}

function operationOf({ operation: kind, deployment, from }: Body): Operation {
  const choice = typeof deployment === 'string' ? parseDeploymentChoice(deployment) : undefined;
  if (kind !== 'restart-as-new' && typeof from === 'number') {
    throw new HttpProblem(422, `'from' does not go together with the operation ${kind}`);
  }
  switch (kind) {
    case 'resume':
      return { kind, deployment: choice ?? { kind: 'keep' } };
    case 'restart-as-new':
      return { kind, copyUpTo: from ?? 0, deployment: choice ?? { kind: 'latest' } };
    default:
      if (choice === undefined) return { kind };
      throw new HttpProblem(422, `'deployment' does not go together with the operation ${kind}`);
  }
}

function selectionOf(body: Body): BatchSelection {
  const ids = body.invocation_ids ?? undefined;
  const given = body.filter ?? undefined;
  if ((ids === undefined) === (given === undefined)) {
    throw new HttpProblem(422, "the body needs either 'filter' or 'invocation_ids'");
  }
  if (given !== undefined) return { kind: 'filter', filter: filterOf(given) };
  const different = [...new Set(ids)];
  if (different.length > BATCH_INVOCATIONS_MAX) {
    throw new EngineError(
      'bad-request',
      `at most ${String(BATCH_INVOCATIONS_MAX)} 'invocation_ids', got ${String(different.length)}; use a filter for more`,
    );
  }
  return { kind: 'ids', ids: different };
}

function filterOf(given: NonNullable<Body['filter']>): BatchFilter {
  const statuses = given.status ?? undefined;
  return {
    service: given.service ?? undefined,
    handler: given.handler ?? undefined,
    key: given.key ?? undefined,
    statuses: typeof statuses === 'string' ? [statuses] : statuses,
    result: given.completion_result ?? undefined,
    deploymentId: given.deployment_id ?? undefined,
    createdAfter: given.created_after ?? undefined,
    createdBefore: given.created_before ?? undefined,
  };
}
