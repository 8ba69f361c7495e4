import { EngineError } from '@engine/domain';
import type { Cancellable, Scheduler } from '@engine/runtime';
import {
  DATABASE_MEMORY_BYTES_MAX,
  QUERIES_WAITING_MAX,
  QUERY_STOP_MS_MAX,
  QUERY_TIME_MS_MAX,
  STATEMENT_LENGTH_MAX,
  THREAD_IDLE_MS_MAX,
} from './limits.js';
import { QueryRun } from './query-run.js';
import type { QueryService } from './query-service.js';
import { QueryThread } from './query-thread.js';
import type { TableProvider } from './table.js';
import { Turnstile } from './turnstile.js';

export interface SqlEngineOptions {
  readonly queryTimeMsMax?: number;
  readonly databaseMemoryBytesMax?: number;
}

export interface SqlEngineDependencies {
  readonly tables: TableProvider;
  readonly scheduler: Scheduler;
}

/**
 * Queries on DuckDB in a thread of its own, one at a time. The thread starts with the first query and ends after a while
 * without one, so a server that nobody asks pays nothing.
 */
export class SqlEngine implements QueryService, AsyncDisposable {
  readonly #queryTimeMsMax: number;
  readonly #memoryBytesMax: number;
  readonly #tables: TableProvider;
  readonly #scheduler: Scheduler;
  readonly #turnstile = new Turnstile(QUERIES_WAITING_MAX);
  #thread: QueryThread | undefined;
  #run: QueryRun | undefined;
  #idle: Cancellable | undefined;
  #isStopping = false;

  constructor(options: SqlEngineOptions, dependencies: SqlEngineDependencies) {
    this.#queryTimeMsMax = options.queryTimeMsMax ?? QUERY_TIME_MS_MAX;
    this.#memoryBytesMax = options.databaseMemoryBytesMax ?? DATABASE_MEMORY_BYTES_MAX;
    this.#tables = dependencies.tables;
    this.#scheduler = dependencies.scheduler;
  }

  async queryJson(statement: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    if (statement.length > STATEMENT_LENGTH_MAX) {
      throw new EngineError('bad-request', 'the statement is too long');
    }
    const endTurn = await this.#turnstile.enter();
    if (this.#isStopping || signal.aborted) {
      endTurn();
      throw new EngineError('unavailable', 'the query was not started');
    }
    const run = this.#begin(statement);
    const onAbort = (): void => {
      run.stop(new EngineError('cancelled', 'the caller went away'));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const limit = this.#limitTime(run);
    void run.ended.then(() => {
      limit.cancel();
      signal.removeEventListener('abort', onAbort);
      this.#end();
      endTurn();
    });
    await run.first();
    return run.answer();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true;
    this.#idle?.cancel();
    this.#run?.stop(new EngineError('unavailable', 'the server is stopping'));
    // The database must be at rest before its thread can end.
    await this.#run?.ended;
    await this.#thread?.terminate();
  }

  #begin(statement: string): QueryRun {
    this.#idle?.cancel();
    if (this.#thread === undefined || this.#thread.isOver) {
      this.#thread = new QueryThread({
        tables: this.#tables.tables,
        memoryBytesMax: this.#memoryBytesMax,
      });
    }
    const run = new QueryRun(this.#tables);
    this.#run = run;
    this.#thread.start(statement, run);
    return run;
  }

  #end(): void {
    this.#run = undefined;
    if (this.#isStopping) return;
    this.#idle = this.#scheduler.after(THREAD_IDLE_MS_MAX, () => void this.#dropThread());
  }

  /** Stops a query that takes too long; ends the thread if that does not help. */
  #limitTime(run: QueryRun): Cancellable {
    let timer = this.#scheduler.after(this.#queryTimeMsMax, () => {
      const message = `the query took longer than ${String(this.#queryTimeMsMax)} ms`;
      run.stop(new EngineError('internal', message));
      timer = this.#scheduler.after(QUERY_STOP_MS_MAX, () => void this.#dropThread());
    });
    return {
      cancel: () => {
        timer.cancel();
      },
    };
  }

  async #dropThread(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.terminate();
  }
}
