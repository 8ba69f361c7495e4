/** Engine tables over snapshots in memory, and what a scan of them finds. */

import {
  DEFAULT_RETRY_POLICY,
  deploymentIdFromUlid,
  invocationIdFromBytes,
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
import { EngineTables, type EngineTablesDependencies } from '../tables/engine-tables.js';

export const AT = Date.UTC(2026, 10, 20);
const never = new AbortController().signal;
export const deploymentId = deploymentIdFromUlid(Uint8Array.from({ length: 16 }, (_, i) => i));
export const idOf = (n: number): InvocationId =>
  invocationIdFromBytes(
    Uint8Array.from({ length: 24 }, (_, i) => (i > 21 ? n >> ((23 - i) * 8) : i)),
  );

export const RUNNING: Invocation = {
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

export class Journals {
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

export class Values {
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

export function tablesOver(...snapshots: InvocationSnapshot[]): {
  tables: EngineTables;
  source: Snapshots;
} {
  const source = new Snapshots(snapshots);
  return { source, tables: tablesWith({ invocations: source }) };
}

export function tablesWith(sources: Partial<EngineTablesDependencies>): EngineTables {
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

export async function batches(
  tables: EngineTables,
  table: string,
  asked: Asked = {},
): Promise<Row[][]> {
  const all = tables.tables.find(({ name }) => name === table)?.columns.map(({ name }) => name);
  const columns = new Set(asked.columns ?? all);
  const found: Row[][] = [];
  for await (const batch of tables.scan({ table, keys: asked.keys ?? {}, columns }, never)) {
    found.push([...batch]);
  }
  return found;
}

export async function scan(tables: EngineTables, table: string, asked: Asked = {}): Promise<Row[]> {
  return (await batches(tables, table, asked)).flat();
}

/** Rows as objects, without what is null. */
export async function cells(
  tables: EngineTables,
  table: string,
  asked: Asked = {},
): Promise<unknown[]> {
  const columns = tables.tables.find(({ name }) => name === table)?.columns ?? [];
  return (await scan(tables, table, asked)).map((row) => {
    if (row.length !== columns.length) throw new Error(`${table}: ${String(row.length)} cells`);
    const named = columns.map(({ name }, i) => [name, row[i]] as const);
    return Object.fromEntries(named.filter(([, cell]) => cell !== undefined));
  });
}

export async function invocation(
  changes: Partial<Invocation>,
  more: object = {},
): Promise<unknown> {
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
