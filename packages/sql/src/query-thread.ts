/** The database thread as the main thread holds it. */

import { Worker } from 'node:worker_threads';
import type { QueryRun } from './query-run.js';
import type { QueryRequest, ThreadOptions } from './thread/messages.js';

/** Started from source only in tests; see thread/source-hooks.mjs. */
const IS_SOURCE = import.meta.url.endsWith('.ts');

/** Takes one query at a time. */
export class QueryThread {
  readonly #worker: Worker;
  #run: QueryRun | undefined;
  #isOver = false;

  constructor(options: ThreadOptions) {
    const entry = new URL(IS_SOURCE ? './thread/main.ts' : './thread/main.js', import.meta.url);
    const hooks = new URL('./thread/source-hooks.mjs', import.meta.url);
    this.#worker = new Worker(entry, {
      name: 'sql',
      workerData: options,
      execArgv: IS_SOURCE ? ['--import', hooks.href] : [],
    });
    let reason = '';
    this.#worker.on('error', (error: unknown) => {
      reason = `: ${error instanceof Error ? error.message : String(error)}`;
    });
    this.#worker.on('exit', () => {
      this.#isOver = true;
      this.#run?.abandon(`the database ended${reason}`);
    });
  }

  /** True when the thread has ended for whatever reason. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Starts a query. The last one must have ended. If the thread ends, so does the query. */
  start(statement: string, run: QueryRun): void {
    const request: QueryRequest = { statement, port: run.threadPort };
    this.#run = run;
    this.#worker.postMessage(request, [run.threadPort]);
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }
}
