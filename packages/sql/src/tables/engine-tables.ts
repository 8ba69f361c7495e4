import {
  EngineError,
  parseInvocationId,
  type InvocationId,
  type SchemaLookup,
} from '@engine/domain';
import type {
  InvocationScan,
  InvocationSnapshot,
  JournalScan,
  JournalSnapshot,
  StateScan,
  StateSnapshot,
} from '@engine/wire';
import { SCAN_BATCH_ROWS_MAX } from '../limits.js';
import type { Row, ScanRequest, TableDefinition, TableProvider } from '../table.js';
import { rowsInBatches } from './batches.js';
import { deploymentRow, serviceRows, SYS_DEPLOYMENT, SYS_SERVICE } from './schema-tables.js';
import { STATE, stateRow } from './state.js';
import { invocationRow, SYS_INVOCATION } from './sys-invocation.js';
import { journalRow, SYS_JOURNAL } from './sys-journal.js';

export interface EngineTablesDependencies {
  readonly invocations: InvocationScan;
  readonly journals: JournalScan;
  readonly state: StateScan;
  /** The schema as this process knows it now. */
  readonly schema: () => SchemaLookup;
  /** Version of the server, shown in rows. */
  readonly version: string;
}

/** The tables of the engine. Rows are read page by page while the database takes them. */
export class EngineTables implements TableProvider {
  readonly tables: readonly TableDefinition[] = [
    STATE,
    SYS_DEPLOYMENT,
    SYS_INVOCATION,
    SYS_JOURNAL,
    SYS_SERVICE,
  ];
  readonly #dependencies: EngineTablesDependencies;

  constructor(dependencies: EngineTablesDependencies) {
    this.#dependencies = dependencies;
  }

  async *scan(request: ScanRequest, signal: AbortSignal): AsyncGenerator<readonly Row[]> {
    const { version } = this.#dependencies;
    const { columns } = request;
    const schema = this.#dependencies.schema();
    switch (request.table) {
      case SYS_DEPLOYMENT.name:
        yield schema.schema.deployments.map(deploymentRow);
        return;
      case SYS_SERVICE.name:
        yield serviceRows(schema);
        return;
      case SYS_INVOCATION.name:
        yield* rowsInBatches(this.#invocations(request, signal), (found) =>
          invocationRow(found, version),
        );
        return;
      case SYS_JOURNAL.name:
        yield* rowsInBatches(this.#journals(request, signal), (found) =>
          journalRow(found, columns, schema),
        );
        return;
      case STATE.name:
        yield* rowsInBatches(this.#state(request, signal), (found) => stateRow(found, columns));
        return;
      default:
        throw new EngineError('internal', `table ${request.table} has no rows`);
    }
  }

  async *#invocations({ keys }: ScanRequest, signal: AbortSignal) {
    const { invocations } = this.#dependencies;
    const ids = keys['id']?.map(invocationId);
    if (ids === undefined) {
      yield* pages<InvocationSnapshot>(
        (last) => invocations.scan({ limit: SCAN_BATCH_ROWS_MAX, after: last?.id }),
        signal,
      );
      return;
    }
    for (let start = 0; start < ids.length; start += SCAN_BATCH_ROWS_MAX) {
      const page = ids.slice(start, start + SCAN_BATCH_ROWS_MAX);
      yield* invocations.scan({ ids: page, limit: page.length });
    }
  }

  async *#journals({ keys }: ScanRequest, signal: AbortSignal) {
    const { journals } = this.#dependencies;
    for (const id of keys['id']?.map(invocationId) ?? [undefined]) {
      yield* pages<JournalSnapshot>(
        (after) => journals.scanJournal({ id, limit: SCAN_BATCH_ROWS_MAX, after }),
        signal,
      );
    }
  }

  /** One range per object where the filters name service and key, one per service where they name only that. */
  async *#state({ keys }: ScanRequest, signal: AbortSignal) {
    const { state } = this.#dependencies;
    for (const service of keys['service_name'] ?? [undefined]) {
      const objects = service === undefined ? undefined : keys['service_key'];
      for (const key of objects ?? [undefined]) {
        if (signal.aborted) return;
        yield* pages<StateSnapshot>(
          (after) => state.scanState({ service, key, limit: SCAN_BATCH_ROWS_MAX, after }),
          signal,
        );
      }
    }
  }
}

/** All that a scan finds, page by page; `read` gives what stands behind the last one found. */
async function* pages<Found>(
  read: (last: Found | undefined) => AsyncIterable<Found>,
  signal: AbortSignal,
): AsyncGenerator<Found> {
  let last: Found | undefined;
  let count = SCAN_BATCH_ROWS_MAX;
  while (count === SCAN_BATCH_ROWS_MAX && !signal.aborted) {
    count = 0;
    for await (const found of read(last)) {
      yield found;
      last = found;
      count += 1;
    }
  }
}

function invocationId(text: string): InvocationId {
  const parsed = parseInvocationId(text);
  if (parsed.kind === 'ok') return parsed.id;
  throw new EngineError('internal', `bad invocation id '${text}': ${parsed.reason}`);
}
