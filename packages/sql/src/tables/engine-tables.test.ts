import { describe, expect, it } from '@jest/globals';
import {
  DEFAULT_RETRY_POLICY,
  deploymentIdFromUlid,
  EngineError,
  invocationIdFromBytes,
  partitionKeyOf,
  SchemaLookup,
  type Invocation,
  type InvocationId,
  type Schema,
} from '@engine/domain';
import type {
  InvocationSnapshot,
  JournalScanOptions,
  JournalSnapshot,
  ScanOptions,
  StateScanOptions,
  StateSnapshot,
} from '@engine/wire';
import type { Row, ScanRequest } from '../table.js';
import { EngineTables, type EngineTablesDependencies } from './engine-tables.js';
import { SYS_INVOCATION } from './sys-invocation.js';

const AT = Date.UTC(2026, 10, 20);
const never = new AbortController().signal;
const deploymentId = deploymentIdFromUlid(Uint8Array.from({ length: 16 }, (_, i) => i));
const idOf = (n: number): InvocationId =>
  invocationIdFromBytes(
    Uint8Array.from({ length: 24 }, (_, i) => (i > 21 ? n >> ((23 - i) * 8) : i)),
  );

const RUNNING: Invocation = {
  status: 'invoked',
  incarnation: 0,
  target: { kind: 'object-exclusive', service: 'Counter', key: 'k', handler: 'add' },
  source: { kind: 'ingress', requestId: 'r' },
  sinks: [],
  idempotencyKey: undefined,
  executionTime: undefined,
  completionRetentionMs: 86_400_000,
  journalRetentionMs: 0,
  createdAt: AT,
  modifiedAt: AT + 1,
  scheduledAt: undefined,
  inboxedAt: undefined,
  runningAt: AT + 1,
  completedAt: undefined,
  inboxSequence: undefined,
  journalLength: 3,
  commandCount: 2,
  pin: { deploymentId, protocolVersion: 7 },
  attempt: 1,
  lastAttemptAt: AT + 1,
  retry: undefined,
  awaitingOn: undefined,
  awaitKnownEntries: undefined,
  purgedAt: undefined,
  purgeLength: undefined,
  inherited: undefined,
  result: undefined,
};

const SCHEMA: Schema = {
  deployments: [1, 2].map((revision) => ({
    id: deploymentId,
    endpoint: {
      kind: 'http',
      uri: `http://127.0.0.1:908${String(revision)}/`,
      httpVersion: 'HTTP/2.0',
    },
    protocolMode: 'bidi-stream',
    additionalHeaders: {},
    metadata: {},
    createdAt: AT,
    minProtocolVersion: 5,
    maxProtocolVersion: 7,
    sdkVersion: undefined,
    services: [
      {
        name: 'Counter',
        type: 'virtual-object',
        revision,
        handlers: [],
        ingressPrivate: true,
        documentation: undefined,
        metadata: {},
        options: {},
      },
    ],
  })),
};
const LOOKUP = new SchemaLookup(SCHEMA, {
  inactivityTimeoutMs: 60_000,
  abortTimeoutMs: 600_000,
  journalRetentionMs: 0,
  idempotencyRetentionMs: 0,
  workflowCompletionRetentionMs: 0,
  retryPolicy: DEFAULT_RETRY_POLICY,
});

class Snapshots {
  readonly asked: ScanOptions[] = [];
  readonly #snapshots: readonly InvocationSnapshot[];

  constructor(snapshots: readonly InvocationSnapshot[]) {
    this.#snapshots = snapshots;
  }

  async *scan(options: ScanOptions): AsyncGenerator<InvocationSnapshot> {
    await Promise.resolve();
    this.asked.push(options);
    const start = this.#snapshots.findIndex(({ id }) => id === options.after) + 1;
    const found = this.#snapshots.filter(({ id }) => options.ids?.includes(id) ?? true);
    yield* found.slice(start, start + options.limit);
  }
}

class Journals {
  readonly asked: JournalScanOptions[] = [];
  readonly #entries: readonly JournalSnapshot[];

  constructor(entries: readonly JournalSnapshot[]) {
    this.#entries = entries;
  }

  async *scanJournal(options: JournalScanOptions): AsyncGenerator<JournalSnapshot> {
    await Promise.resolve();
    this.asked.push(options);
    const { id, after, limit } = options;
    const start = this.#entries.findIndex((e) => e.id === after?.id && e.index === after.index) + 1;
    const found = this.#entries.slice(start).filter((entry) => id === undefined || entry.id === id);
    yield* found.slice(0, limit);
  }
}

class Values {
  readonly asked: StateScanOptions[] = [];
  readonly #values: readonly StateSnapshot[];

  constructor(values: readonly StateSnapshot[]) {
    this.#values = values;
  }

  async *scanState(options: StateScanOptions): AsyncGenerator<StateSnapshot> {
    await Promise.resolve();
    this.asked.push(options);
    const start = this.#values.findIndex((value) => value === options.after) + 1;
    yield* this.#values.slice(start, start + options.limit);
  }
}

function tablesOver(...snapshots: InvocationSnapshot[]): {
  tables: EngineTables;
  source: Snapshots;
} {
  const source = new Snapshots(snapshots);
  return { source, tables: tablesWith({ invocations: source }) };
}

function tablesWith(sources: Partial<EngineTablesDependencies>): EngineTables {
  return new EngineTables({
    invocations: new Snapshots([]),
    journals: new Journals([]),
    state: new Values([]),
    schema: () => LOOKUP,
    version: '0.1.0',
    ...sources,
  });
}

interface Asked {
  readonly keys?: ScanRequest['keys'];
  readonly columns?: readonly string[];
}

async function batches(tables: EngineTables, table: string, asked: Asked = {}): Promise<Row[][]> {
  const all = tables.tables.find(({ name }) => name === table)?.columns.map(({ name }) => name);
  const columns = new Set(asked.columns ?? all);
  const found: Row[][] = [];
  for await (const batch of tables.scan({ table, keys: asked.keys ?? {}, columns }, never)) {
    found.push([...batch]);
  }
  return found;
}

async function scan(tables: EngineTables, table: string, asked: Asked = {}): Promise<Row[]> {
  return (await batches(tables, table, asked)).flat();
}

/** Rows as objects, without what is null. */
async function cells(tables: EngineTables, table: string, asked: Asked = {}): Promise<unknown[]> {
  const columns = tables.tables.find(({ name }) => name === table)?.columns ?? [];
  return (await scan(tables, table, asked)).map((row) => {
    expect(row).toHaveLength(columns.length);
    const named = columns.map(({ name }, i) => [name, row[i]] as const);
    return Object.fromEntries(named.filter(([, cell]) => cell !== undefined));
  });
}

async function invocation(changes: Partial<Invocation>, more: object = {}): Promise<unknown> {
  const { tables } = tablesOver({
    id: idOf(1),
    invocation: { ...RUNNING, ...changes },
    live: undefined,
    failure: undefined,
    awaiting: undefined,
    ...more,
  });
  const [row] = await cells(tables, 'sys_invocation');
  return row;
}

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

describe('the tables of the schema', () => {
  it('show every deployment and the newest revision of each service', async () => {
    const { tables } = tablesOver();
    expect(await scan(tables, 'sys_deployment')).toHaveLength(2);
    expect((await scan(tables, 'sys_deployment'))[0]).toEqual([
      ...[deploymentId, 'http', 'http://127.0.0.1:9081/', AT, 5, 7, ['Counter']],
    ]);
    expect(await scan(tables, 'sys_service')).toEqual([
      ['Counter', 2, false, 'virtual_object', deploymentId],
    ]);
  });
});

describe('sys_journal', () => {
  const entry = (n: number, index: number): JournalSnapshot => ({
    id: idOf(n),
    index,
    entry: { kind: 'input', headers: [], payload: Uint8Array.of(1, 2), appendedAt: AT },
  });

  it('shows an entry with its bytes and its JSON', async () => {
    const tables = tablesWith({ journals: new Journals([entry(1, 0)]) });
    expect(await cells(tables, 'sys_journal')).toEqual([
      {
        partition_key: partitionKeyOf(idOf(1)),
        id: idOf(1),
        index: 0,
        entry_type: 'Command: Input',
        name: '',
        raw: Uint8Array.of(0x72, 4, 0x0a, 2, 1, 2),
        raw_length: 6,
        version: 2,
        entry_json: '{"Command":{"Input":{"headers":[],"payload":[1,2],"name":""}}}',
        entry_lite_json: '{"Command":{"Input":{}}}',
        appended_at: AT,
      },
    ]);
  });

  it('makes neither bytes nor JSON that nobody reads, and no JSON of large entries', async () => {
    const large: JournalSnapshot = {
      ...entry(1, 0),
      entry: {
        kind: 'input',
        headers: [],
        payload: new Uint8Array(1024 * 1024 + 1),
        appendedAt: AT,
      },
    };
    const tables = tablesWith({ journals: new Journals([large]) });
    const [few] = await cells(tables, 'sys_journal', { columns: ['id', 'entry_type'] });
    expect(few).not.toHaveProperty('raw_length');
    const columns = ['entry_json', 'entry_lite_json', 'raw_length'];
    const [row] = await cells(tables, 'sys_journal', { columns });
    expect(row).toMatchObject({ entry_lite_json: '{"Command":{"Input":{}}}' });
    expect(row).not.toHaveProperty('entry_json');
    expect(row).not.toHaveProperty('raw');
  });

  it('is read page by page, of one invocation or of all', async () => {
    const entries = Array.from({ length: 1500 }, (_, index) => entry(index < 1200 ? 1 : 2, index));
    const journals = new Journals(entries);
    const tables = tablesWith({ journals });
    expect(await scan(tables, 'sys_journal', { columns: [] })).toHaveLength(1500);
    expect(journals.asked.map(({ after }) => after?.index)).toEqual([undefined, 1023]);
    journals.asked.length = 0;
    const keys = { id: [idOf(1), idOf(2)] };
    expect(await scan(tables, 'sys_journal', { keys, columns: [] })).toHaveLength(1500);
    expect(journals.asked.map(({ id, after }) => [id, after?.index])).toEqual([
      [idOf(1), undefined],
      [idOf(1), 1023],
      [idOf(2), undefined],
    ]);
  });

  it('crosses in batches that are bounded by bytes', async () => {
    const large = Array.from({ length: 5 }, (_, index): JournalSnapshot => ({
      ...entry(1, index),
      entry: { kind: 'input', headers: [], payload: new Uint8Array(600_000), appendedAt: AT },
    }));
    const tables = tablesWith({ journals: new Journals(large) });
    const found = await batches(tables, 'sys_journal', { columns: ['raw'] });
    expect(found.map((batch) => batch.length)).toEqual([2, 2, 1]);
  });
});

describe('state', () => {
  const value = (stateKey: string, bytes: Uint8Array): StateSnapshot => ({
    partitionKey: 2n ** 64n - 1n,
    service: 'Counter',
    key: 'k',
    stateKey,
    value: bytes,
  });

  it('shows values as bytes, and as text where they are UTF-8', async () => {
    const values = [value('ä', Uint8Array.of(0x37)), value('b', Uint8Array.of(0xff))];
    const common = { partition_key: 2n ** 64n - 1n, service_name: 'Counter', service_key: 'k' };
    expect(await cells(tablesWith({ state: new Values(values) }), 'state')).toEqual([
      {
        ...common,
        ...{
          key: 'ä',
          key_length: 2,
          value_utf8: '7',
          value: Uint8Array.of(0x37),
          value_length: 1,
        },
      },
      { ...common, key: 'b', key_length: 1, value: Uint8Array.of(0xff), value_length: 1 },
    ]);
  });

  it.each([
    [{}, [[undefined, undefined]]],
    [{ service_key: ['k'] }, [[undefined, undefined]]],
    [{ service_name: ['S'] }, [['S', undefined]]],
    [
      { service_name: ['S', 'T'], service_key: ['k'] },
      [
        ['S', 'k'],
        ['T', 'k'],
      ],
    ],
  ])('with filters on %j reads the ranges %j', async (keys, ranges) => {
    const state = new Values([]);
    await scan(tablesWith({ state }), 'state', { keys });
    expect(state.asked.map(({ service, key }) => [service, key])).toEqual(ranges);
  });
});
