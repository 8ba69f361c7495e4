import { describe, expect, it } from '@jest/globals';
import { EngineError } from '@engine/domain';
import { SYS_INVOCATION } from './sys-invocation.js';
import { AT, deploymentId, idOf, RUNNING, tablesOver, scan, invocation } from '../testing/scans.js';

describe('sys_invocation', () => {
  it('has its 51 columns in the order that SELECT * shows, then what it waits for', () => {
    const names = SYS_INVOCATION.columns.map(({ name }) => name);
    expect(names.slice(51)).toEqual(['awaiting_on', 'awaiting_since', 'last_heard_at']);
    expect([names[0], names[21], names[34], names[48], names[50]]).toEqual([
      ...['id', 'created_at', 'retry_count', 'status', 'completion_failure'],
    ]);
  });

  it('shows a running invocation', async () => {
    const live = {
      isInFlight: true,
      retryCount: 1,
      lastStartAt: AT + 2,
      nextRetryAt: undefined,
      deploymentId,
      server: 'sdk/1',
      awaitingOn: { kind: 'single', id: { kind: 'completion', id: 3 } },
      lastHeardAt: AT + 4,
    } as const;
    const awaiting = { on: 'sleep', since: AT + 3 };
    expect(await invocation({}, { live, awaiting })).toEqual({
      id: idOf(1),
      target: 'Counter/k/add',
      target_service_name: 'Counter',
      target_service_key: 'k',
      target_handler_name: 'add',
      target_service_ty: 'virtual_object',
      invoked_by: 'ingress',
      pinned_deployment_id: deploymentId,
      pinned_service_protocol_version: 7,
      journal_size: 3,
      journal_commands_size: 2,
      created_at: AT,
      created_using_engine_version: '0.1.0',
      modified_at: AT + 1,
      running_at: AT + 1,
      completion_retention: 86_400_000,
      journal_retention: 0,
      retry_count: 1,
      last_start_at: AT + 2,
      last_attempt_deployment_id: deploymentId,
      last_attempt_server: 'sdk/1',
      last_awaiting_on_future_json: '{"Single":{"CompletionId":3}}',
      status: 'running',
      awaiting_on: 'sleep',
      awaiting_since: AT + 3,
      last_heard_at: AT + 4,
    });
  });

  it('shows why an invocation is backing off', async () => {
    const failure = {
      code: 500,
      docCode: 'RT0007',
      message: 'boom',
      stacktrace: 'at x',
      relatedCommandIndex: 1,
      relatedCommandName: 'step',
      relatedCommandType: 'Run',
    };
    const retry = {
      failures: 2,
      setDelays: 0,
      failuresSinceLastCommand: 2,
      nextAttemptAt: AT + 9,
      failure,
    };
    expect(await invocation({ retry })).toMatchObject({
      status: 'backing-off',
      next_retry_at: AT + 9,
      last_failure: '[500 Internal] boom\nat x',
      last_failure_error_code: 'RT0007',
      last_failure_related_command_index: 1,
      last_failure_related_command_name: 'step',
      last_failure_related_command_type: 'Command: Run',
    });
  });

  it('shows what a suspended invocation waits for', async () => {
    const awaitingOn = {
      kind: 'unknown',
      children: [
        { kind: 'single', id: { kind: 'completion', id: 2 } },
        { kind: 'single', id: { kind: 'signal', index: 17 } },
        { kind: 'single', id: { kind: 'named-signal', name: 'go' } },
      ],
    } as const;
    expect(await invocation({ status: 'suspended', awaitingOn })).toMatchObject({
      status: 'suspended',
      suspended_waiting_for_completions: [2],
      suspended_waiting_for_signals: [17],
      suspended_waiting_future_json:
        '{"Unknown":[{"Single":{"CompletionId":2}},{"Single":{"SignalIndex":17}},{"Single":{"SignalName":"go"}}]}',
    });
  });

  it.each([
    [
      { kind: 'output', index: 1, succeeded: true } as const,
      undefined,
      { completion_result: 'success' },
    ],
    [
      { kind: 'output', index: 1, succeeded: false } as const,
      { code: 418, message: 'nope', metadata: [] },
      { completion_result: 'failure', completion_failure: '[418] nope' },
    ],
    [
      { kind: 'failure', failure: { code: 409, message: 'killed', metadata: [] } } as const,
      { code: 409, message: 'killed', metadata: [] },
      { completion_result: 'failure', completion_failure: '[409] killed' },
    ],
  ])('shows how an invocation ended: %j %j', async (result, failure, cells) => {
    expect(
      await invocation({ status: 'completed', completedAt: AT + 5, result }, { failure }),
    ).toMatchObject({ status: 'completed', completed_at: AT + 5, ...cells });
  });

  it.each([
    [{ status: 'inboxed', inboxedAt: AT } as const, { status: 'pending', inboxed_at: AT }],
    [
      { status: 'scheduled', executionTime: AT } as const,
      { status: 'scheduled', scheduled_start_at: AT },
    ],
    [{ status: 'paused' } as const, { status: 'paused' }],
    [{}, { status: 'ready' }],
    [
      { source: { kind: 'service', callerId: idOf(9), callerTarget: RUNNING.target } } as const,
      {
        invoked_by: 'service',
        invoked_by_service_name: 'Counter',
        invoked_by_id: idOf(9),
        invoked_by_target: 'Counter/k/add',
      },
    ],
    [
      { source: { kind: 'subscription', subscriptionId: 'sub_1' } } as const,
      { invoked_by: 'subscription', invoked_by_subscription_id: 'sub_1' },
    ],
    [
      { source: { kind: 'restart-as-new', originalId: idOf(8) } } as const,
      { invoked_by: 'restart_as_new', restarted_from: idOf(8) },
    ],
  ])('%j', async (changes, cells) => {
    expect(await invocation(changes)).toMatchObject(cells);
  });

  it('is read page by page', async () => {
    const snapshots = Array.from({ length: 2500 }, (_, n) => ({
      id: idOf(n),
      invocation: RUNNING,
      live: undefined,
      failure: undefined,
      awaiting: undefined,
    }));
    const { tables, source } = tablesOver(...snapshots);
    expect((await scan(tables, 'sys_invocation')).map(([id]) => id)).toEqual(
      snapshots.map(({ id }) => id),
    );
    expect(source.asked.map(({ after }) => after)).toEqual([undefined, idOf(1023), idOf(2047)]);
  });

  it('reads only the ids that are asked for, and refuses a text that is no id', async () => {
    const snapshot = { invocation: RUNNING, live: undefined, failure: undefined };
    const found = { ...snapshot, id: idOf(1), awaiting: undefined };
    const { tables, source } = tablesOver(found);
    expect(await scan(tables, 'sys_invocation', { keys: { id: [idOf(1), idOf(2)] } })).toHaveLength(
      1,
    );
    expect(source.asked[0]?.ids).toEqual([idOf(1), idOf(2)]);
    await expect(scan(tables, 'sys_invocation', { keys: { id: ['foo'] } })).rejects.toThrow(
      EngineError,
    );
  });
});
