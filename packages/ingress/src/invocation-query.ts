/** Ways to name an existing invocation: by id, as the run of a workflow, by idempotency key. */

import {
  idempotentInvocationId,
  workflowInvocationId,
  type Hashes,
  type InvocationId,
  type ResolvedHandler,
  type SchemaLookup,
} from '@engine/domain';

export type InvocationQuery =
  | { readonly kind: 'invocation'; readonly id: InvocationId }
  | {
      readonly kind: 'workflow';
      readonly service: string;
      readonly key: string;
      readonly scope: string | undefined;
    }
  | {
      readonly kind: 'idempotent';
      readonly service: string;
      readonly key: string | undefined;
      readonly handler: string;
      readonly idempotencyKey: string;
      readonly scope: string | undefined;
    };

/** The id that the query means. Pure arithmetic: nothing needs to exist. */
export function invocationIdOf(query: InvocationQuery, hashes: Hashes): InvocationId {
  switch (query.kind) {
    case 'invocation':
      return query.id;
    case 'workflow':
      return workflowInvocationId(query, hashes);
    case 'idempotent':
      return idempotentInvocationId(query, hashes);
  }
}

/** The handler that the query itself names, when it names one that is registered. */
export function handlerNamedBy(
  query: InvocationQuery,
  schema: SchemaLookup,
): ResolvedHandler | undefined {
  switch (query.kind) {
    case 'invocation':
      return undefined;
    case 'workflow':
      for (const handler of schema.service(query.service)?.handlers.values() ?? []) {
        if (handler.kind === 'workflow-run') return handler;
      }
      return undefined;
    case 'idempotent':
      return schema.handler(query.service, query.handler);
  }
}
