/** Callee of a call: its id, its kind of target, how long its result is kept. */

import {
  idempotentInvocationId,
  retentionOf,
  workflowInvocationId,
  type InvocationId,
  type InvocationTarget,
  type ResolvedHandler,
} from '@engine/domain';
import { PROTOCOL_VERSION_MIN, type HandlerCommand } from '@engine/service-protocol';
import type { CalleeRequest } from '@engine/state-machine';

import { refuse, type Refusal, type ResolveContext } from './refusal.js';

type CallCommand = Extract<HandlerCommand, { type: 'call' | 'one-way-call' }>;

/** Refusals: RT0018 unknown callee, RT0020 deployment too old, RT0017 key or idempotency key, RT0024 flow control. */
export function resolveCallee(
  command: CallCommand,
  context: ResolveContext,
): { readonly kind: 'callee'; readonly callee: CalleeRequest } | Refusal {
  const schema = context.schema();
  const resolved = schema.handler(command.service, command.handler);
  if (resolved === undefined) {
    return refuse('RT0018', `no handler '${command.service}/${command.handler}' is registered`);
  }
  const deployment = schema.service(command.service)?.deployment;
  if (deployment !== undefined && deployment.maxProtocolVersion < PROTOCOL_VERSION_MIN) {
    return refuse(
      'RT0020',
      `deployment ${deployment.id} of '${command.service}' is too old to call`,
    );
  }
  const refusal = checkCall(command, resolved);
  if (refusal !== undefined) return refusal;
  return { kind: 'callee', callee: calleeOf(command, resolved, context) };
}

function checkCall(command: CallCommand, resolved: ResolvedHandler): Refusal | undefined {
  if (resolved.kind === 'service' && command.key !== '') {
    return refuse('RT0017', `'${command.service}' is a plain service: calls to it carry no key`);
  }
  if (command.idempotencyKey === '') {
    return refuse('RT0017', 'an idempotency key must not be empty');
  }
  const hasScope = command.scope !== undefined && command.scope !== '';
  if (hasScope && resolved.service.type === 'virtual-object') {
    return refuse('RT0017', `'${command.service}' is a virtual object: calls to it carry no scope`);
  }
  if (hasScope || command.limitKey !== undefined) {
    return refuse('RT0024', 'scopes and limit keys need flow control, which is off');
  }
  return undefined;
}

function calleeOf(
  command: CallCommand,
  resolved: ResolvedHandler,
  context: ResolveContext,
): CalleeRequest {
  const { service, handler } = command;
  const key = resolved.kind === 'service' ? undefined : command.key;
  const target: InvocationTarget = { kind: resolved.kind, service, key, handler };
  // A workflow run is identified by its key alone.
  const idempotencyKey = resolved.kind === 'workflow-run' ? undefined : command.idempotencyKey;
  const retention = retentionOf(resolved, idempotencyKey !== undefined);
  return {
    id: calleeId(target, idempotencyKey, context),
    target,
    headers: command.headers,
    payload: command.parameter,
    idempotencyKey,
    executionTime: command.type === 'one-way-call' ? command.invokeTime : undefined,
    completionRetentionMs: retention.completionRetentionMs,
    journalRetentionMs: retention.journalRetentionMs,
  };
}

function calleeId(
  target: InvocationTarget,
  idempotencyKey: string | undefined,
  context: ResolveContext,
): InvocationId {
  const { service, handler, key } = target;
  if (target.kind === 'workflow-run') {
    return workflowInvocationId({ service, key: key ?? '' }, context.hashes);
  }
  if (idempotencyKey !== undefined) {
    return idempotentInvocationId({ service, handler, key, idempotencyKey }, context.hashes);
  }
  return context.ids.fresh(service, key);
}
