import {
  EngineError,
  parseInvocationId,
  type InvocationId,
  type SchemaLookup,
} from '@engine/domain';
import type { InvocationScan } from '@engine/wire';
import { SCAN_BATCH_ROWS_MAX } from '../limits.js';
import type { Row, ScanRequest, TableDefinition, TableProvider } from '../table.js';
import { deploymentRow, serviceRows, SYS_DEPLOYMENT, SYS_SERVICE } from './schema-tables.js';
import { invocationRow, SYS_INVOCATION } from './sys-invocation.js';

export interface EngineTablesDependencies {
  readonly invocations: InvocationScan;
  /** The schema as this process knows it now. */
  readonly schema: () => SchemaLookup;
  /** Version of the server, shown in rows. */
  readonly version: string;
}

/** The tables of the engine. Rows are read page by page while the database takes them. */
export class EngineTables implements TableProvider {
  readonly tables: readonly TableDefinition[] = [SYS_DEPLOYMENT, SYS_INVOCATION, SYS_SERVICE];
  readonly #dependencies: EngineTablesDependencies;

  constructor(dependencies: EngineTablesDependencies) {
    this.#dependencies = dependencies;
  }

  async *scan(request: ScanRequest, signal: AbortSignal): AsyncGenerator<readonly Row[]> {
    switch (request.table) {
      case SYS_DEPLOYMENT.name:
        yield this.#dependencies.schema().schema.deployments.map(deploymentRow);
        return;
      case SYS_SERVICE.name:
        yield serviceRows(this.#dependencies.schema());
        return;
      case SYS_INVOCATION.name:
        yield* this.#invocations(request.keys?.map(invocationId), signal);
        return;
      default:
        throw new EngineError('internal', `table ${request.table} has no rows`);
    }
  }

  async *#invocations(
    ids: readonly InvocationId[] | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<readonly Row[]> {
    const { invocations, version } = this.#dependencies;
    const limit = SCAN_BATCH_ROWS_MAX;
    let after: InvocationId | undefined;
    for (let start = 0; !signal.aborted; start += limit) {
      const page = ids?.slice(start, start + limit);
      if (page?.length === 0) return;
      const rows: Row[] = [];
      for await (const snapshot of invocations.scan({ ids: page, limit, after })) {
        rows.push(invocationRow(snapshot, version));
        if (ids === undefined) after = snapshot.id;
      }
      yield rows;
      if (ids === undefined && rows.length < limit) return;
    }
  }
}

function invocationId(text: string): InvocationId {
  const parsed = parseInvocationId(text);
  if (parsed.kind === 'ok') return parsed.id;
  throw new EngineError('internal', `bad invocation id '${text}': ${parsed.reason}`);
}
