/**
 * From what a handler said to what the partition decides: ids of callees, retentions, targets of signals. Preconditions are
 * checked here, with the schema of this moment; a command that breaks one fails its attempt and is not stored.
 */

import {
  idempotentInvocationId,
  parseAwakeableId,
  parseInvocationId,
  readsState,
  usesPromises,
  workflowInvocationId,
  writesState,
  type InvocationId,
  type InvocationTarget,
  type NotificationResult,
  type Result,
} from '@engine/domain';
import type { HandlerCommand, InvocationQuery } from '@engine/service-protocol';
import type { CommandEntry } from '@engine/state-machine';
import { assertNever } from '@engine/stdx';

import { checkKeys } from './key-limit.js';
import { refuse, type Refusal, type ResolveContext } from './refusal.js';
import { resolveCallee } from './resolve-callee.js';

export type ResolvedCommand = { readonly kind: 'entry'; readonly entry: CommandEntry } | Refusal;

/** Resolves one command. Codes of refusals: RT0012, RT0017, RT0018, RT0020, RT0024 (interface §7.2). */
export function resolveCommand(command: HandlerCommand, context: ResolveContext): ResolvedCommand {
  return checkKeys(command) ?? resolve(command, context);
}

function resolve(command: HandlerCommand, context: ResolveContext): ResolvedCommand {
  switch (command.type) {
    case 'output':
      return entry({ type: 'output', name: command.name, result: command.result });
    case 'run':
      return entry(command);
    case 'get-eager-state':
    case 'get-eager-state-keys': {
      const { type, name, raw } = command;
      return checkReads(context.caller) ?? entry({ type, name, raw });
    }
    case 'get-lazy-state':
    case 'get-lazy-state-keys':
      return checkReads(context.caller) ?? entry(command);
    case 'set-state':
    case 'clear-state':
    case 'clear-all-state':
      return checkWrites(context.caller) ?? entry(command);
    case 'get-promise':
    case 'peek-promise':
    case 'complete-promise':
      return checkPromises(context.caller) ?? entry(command);
    case 'sleep':
      return entry(command);
    case 'call':
    case 'one-way-call':
      return resolveCall(command, context);
    case 'send-signal':
      return resolveSignal(command);
    case 'complete-awakeable':
      return resolveAwakeable(command);
    case 'attach-invocation':
    case 'get-invocation-output':
      return resolveQuery(command, context);
    default:
      return assertNever(command);
  }
}

function entry(resolved: CommandEntry): ResolvedCommand {
  return { kind: 'entry', entry: resolved };
}

function checkReads(caller: InvocationTarget): Refusal | undefined {
  if (readsState(caller.kind)) return undefined;
  return refuse('RT0017', `a handler of service '${caller.service}' has no state: it has no key`);
}

function checkWrites(caller: InvocationTarget): Refusal | undefined {
  if (writesState(caller.kind)) return undefined;
  return (
    checkReads(caller) ??
    refuse('RT0017', `shared handler '${caller.handler}' cannot write the state of its object`)
  );
}

function checkPromises(caller: InvocationTarget): Refusal | undefined {
  if (usesPromises(caller.kind)) return undefined;
  return refuse('RT0017', `service '${caller.service}' is no workflow and has no promises`);
}

function resolveCall(
  command: Extract<HandlerCommand, { type: 'call' | 'one-way-call' }>,
  context: ResolveContext,
): ResolvedCommand {
  const resolved = resolveCallee(command, context);
  if (resolved.kind === 'refused') return resolved;
  const { name, raw, invocationIdCompletionId } = command;
  const { callee } = resolved;
  if (command.type === 'one-way-call') {
    return entry({ type: 'one-way-call', name, raw, callee, invocationIdCompletionId });
  }
  const { resultCompletionId } = command;
  return entry({ type: 'call', name, raw, callee, invocationIdCompletionId, resultCompletionId });
}

function resolveSignal(command: Extract<HandlerCommand, { type: 'send-signal' }>): ResolvedCommand {
  const parsed = parseInvocationId(command.target);
  if (parsed.kind !== 'ok') {
    return refuse('RT0012', `bad invocation id '${command.target}': ${parsed.reason}`);
  }
  const { name, raw, signal, result } = command;
  return entry({ type: 'send-signal', name, raw, target: parsed.id, signal, result });
}

function resolveAwakeable(
  command: Extract<HandlerCommand, { type: 'complete-awakeable' }>,
): ResolvedCommand {
  const parsed = parseAwakeableId(command.awakeableId);
  if (parsed.kind !== 'ok') {
    return refuse('RT0012', `bad awakeable id '${command.awakeableId}': ${parsed.reason}`);
  }
  const { invocationId: target, signalIndex: index } = parsed.id;
  const { name, raw } = command;
  const result = toNotificationResult(command.result);
  return entry({
    type: 'complete-awakeable',
    name,
    raw,
    target,
    signal: { kind: 'signal', index },
    result,
  });
}

function resolveQuery(
  command: Extract<HandlerCommand, { type: 'attach-invocation' | 'get-invocation-output' }>,
  context: ResolveContext,
): ResolvedCommand {
  const target = queriedInvocation(command.query, context);
  if (typeof target !== 'string') return target;
  const { type, name, raw, completionId } = command;
  return entry({ type, name, raw, target, completionId });
}

function queriedInvocation(
  query: InvocationQuery,
  context: ResolveContext,
): InvocationId | Refusal {
  switch (query.kind) {
    case 'invocation': {
      const parsed = parseInvocationId(query.id);
      if (parsed.kind === 'ok') return parsed.id;
      return refuse('RT0017', `bad invocation id '${query.id}': ${parsed.reason}`);
    }
    case 'workflow': {
      const { service, key } = query;
      return checkScope(query.scope) ?? workflowInvocationId({ service, key }, context.hashes);
    }
    case 'idempotent': {
      const { service, handler, key, idempotencyKey } = query;
      const refusal = checkScope(query.scope);
      if (refusal !== undefined) return refusal;
      return idempotentInvocationId({ service, handler, key, idempotencyKey }, context.hashes);
    }
    default:
      return assertNever(query);
  }
}

function checkScope(scope: string | undefined): Refusal | undefined {
  if (scope === undefined || scope === '') return undefined;
  return refuse('RT0024', 'scopes need flow control, which is off');
}

function toNotificationResult(result: Result): NotificationResult {
  return result.kind === 'success' ? { kind: 'value', value: result.value } : result;
}
