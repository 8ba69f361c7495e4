/** Table `sys_invocation`: one row per invocation, stored part and live part together. */

import { targetText, type Invocation, type TargetKind } from '@engine/domain';
import { shownStatus, type InvocationSnapshot } from '@engine/wire';
import { defineColumns, type Row, type TableDefinition } from '../table.js';
import { awaitedCompletions, awaitedSignals, awaitTreeJson } from './await-tree-json.js';
import { attemptFailureText, completionFailureText } from './failure-text.js';

export const SYS_INVOCATION: TableDefinition = {
  name: 'sys_invocation',
  keyColumns: ['id'],
  columns: defineColumns(
    ['id', 'text'],
    ['vqueue_id', 'text'],
    ['target', 'text'],
    ['target_service_name', 'text'],
    ['target_service_key', 'text'],
    ['target_handler_name', 'text'],
    ['target_service_ty', 'text'],
    ['scope', 'text'],
    ['limit_key', 'text'],
    ['idempotency_key', 'text'],
    ['invoked_by', 'text'],
    ['invoked_by_service_name', 'text'],
    ['invoked_by_id', 'text'],
    ['invoked_by_subscription_id', 'text'],
    ['invoked_by_target', 'text'],
    ['restarted_from', 'text'],
    ['pinned_deployment_id', 'text'],
    ['pinned_service_protocol_version', 'u32'],
    ['trace_id', 'text'],
    ['journal_size', 'u32'],
    ['journal_commands_size', 'u32'],
    ['created_at', 'timestamp'],
    ['created_using_engine_version', 'text'],
    ['modified_at', 'timestamp'],
    ['inboxed_at', 'timestamp'],
    ['scheduled_at', 'timestamp'],
    ['scheduled_start_at', 'timestamp'],
    ['running_at', 'timestamp'],
    ['completed_at', 'timestamp'],
    ['completion_retention', 'duration'],
    ['journal_retention', 'duration'],
    ['suspended_waiting_for_completions', 'u32-list'],
    ['suspended_waiting_for_signals', 'u32-list'],
    ['suspended_waiting_future_json', 'text'],
    ['retry_count', 'u64'],
    ['last_start_at', 'timestamp'],
    ['next_retry_at', 'timestamp'],
    ['last_attempt_deployment_id', 'text'],
    ['last_attempt_server', 'text'],
    ['last_failure', 'text'],
    ['last_failure_error_code', 'text'],
    ['last_failure_related_entry_index', 'u64'],
    ['last_failure_related_entry_name', 'text'],
    ['last_failure_related_entry_type', 'text'],
    ['last_failure_related_command_index', 'u64'],
    ['last_failure_related_command_name', 'text'],
    ['last_failure_related_command_type', 'text'],
    ['last_awaiting_on_future_json', 'text'],
    ['status', 'text'],
    ['completion_result', 'text'],
    ['completion_failure', 'text'],
    ['awaiting_on', 'text'],
    ['awaiting_since', 'timestamp'],
    ['last_heard_at', 'timestamp'],
  ),
};

/** The row of an invocation. `version`: text of the server's version. */
export function invocationRow(snapshot: InvocationSnapshot, version: string): Row {
  const { id, invocation } = snapshot;
  const awaitingOn = snapshot.live?.awaitingOn;
  return [
    id,
    undefined,
    ...targetCells(invocation),
    undefined,
    undefined,
    invocation.idempotencyKey,
    ...sourceCells(invocation),
    invocation.pin?.deploymentId,
    invocation.pin?.protocolVersion,
    undefined,
    invocation.journalLength,
    invocation.commandCount,
    ...timeCells(invocation, version),
    invocation.completionRetentionMs,
    invocation.journalRetentionMs,
    ...suspensionCells(invocation),
    ...attemptCells(snapshot),
    ...failureCells(invocation),
    awaitingOn === undefined ? undefined : awaitTreeJson(awaitingOn),
    shownStatus(snapshot),
    ...resultCells(snapshot),
    snapshot.awaiting?.on,
    snapshot.awaiting?.since,
    snapshot.live?.lastHeardAt,
  ];
}

const SERVICE_TYPES: Readonly<Record<TargetKind, string>> = {
  service: 'service',
  'object-exclusive': 'virtual_object',
  'object-shared': 'virtual_object',
  'workflow-run': 'workflow',
  'workflow-shared': 'workflow',
};

/** Target to target_service_ty. */
function targetCells({ target }: Invocation): Row {
  const type = SERVICE_TYPES[target.kind];
  return [targetText(target), target.service, target.key, target.handler, type];
}

/** Invoked_by to restarted_from. */
function sourceCells({ source }: Invocation): Row {
  switch (source.kind) {
    case 'ingress':
      return ['ingress', undefined, undefined, undefined, undefined, undefined];
    case 'service': {
      const { callerId, callerTarget } = source;
      const target = targetText(callerTarget);
      return ['service', callerTarget.service, callerId, undefined, target, undefined];
    }
    case 'subscription':
      return ['subscription', undefined, undefined, source.subscriptionId, undefined, undefined];
    case 'restart-as-new':
      return ['restart_as_new', undefined, undefined, undefined, undefined, source.originalId];
  }
}

/** Created_at to completed_at. */
function timeCells(invocation: Invocation, version: string): Row {
  return [
    invocation.createdAt,
    version,
    invocation.modifiedAt,
    invocation.inboxedAt,
    invocation.scheduledAt,
    invocation.executionTime,
    invocation.runningAt,
    invocation.completedAt,
  ];
}

/** Suspended_waiting_for_completions to suspended_waiting_future_json. */
function suspensionCells({ awaitingOn }: Invocation): Row {
  if (awaitingOn === undefined) return [undefined, undefined, undefined];
  return [awaitedCompletions(awaitingOn), awaitedSignals(awaitingOn), awaitTreeJson(awaitingOn)];
}

/** Retry_count to last_attempt_server: only while the invocation is with the invoker. */
function attemptCells({ invocation, live }: InvocationSnapshot): Row {
  if (invocation.status !== 'invoked') {
    return [undefined, undefined, undefined, undefined, undefined];
  }
  return [
    live?.retryCount,
    live?.lastStartAt ?? invocation.lastAttemptAt,
    live?.nextRetryAt ?? invocation.retry?.nextAttemptAt,
    live?.deploymentId,
    live?.server,
  ];
}

/** Last_failure to last_failure_related_command_type. The three `entry` columns belong to older protocols. */
function failureCells({ status, retry }: Invocation): Row {
  const failure = status === 'completed' ? undefined : retry?.failure;
  if (failure === undefined) return new Array<undefined>(8).fill(undefined);
  const type = failure.relatedCommandType;
  return [
    attemptFailureText(failure),
    failure.docCode,
    undefined,
    undefined,
    undefined,
    failure.relatedCommandIndex,
    failure.relatedCommandName,
    type === undefined ? undefined : `Command: ${type}`,
  ];
}

/** Completion_result and completion_failure. */
function resultCells({ invocation, failure }: InvocationSnapshot): Row {
  if (invocation.status !== 'completed') return [undefined, undefined];
  return failure === undefined
    ? ['success', undefined]
    : ['failure', completionFailureText(failure)];
}
