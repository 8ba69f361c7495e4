/**
 * What the main thread and the database thread say to each other. Every query has a channel of its own, so nothing of an
 * ended query can be taken for something of the next one. On it the thread asks and the main thread answers, one at a
 * time; only `stop` may come unasked.
 */

import type { MessagePort } from 'node:worker_threads';
import type { Row, ScanRequest, TableDefinition } from '../table.js';

/** Settings of the database, given when the thread starts. */
export interface ThreadOptions {
  readonly tables: readonly TableDefinition[];
  readonly memoryBytesMax: number;
}

/** Main → thread, on the thread's own port. */
export interface QueryRequest {
  readonly statement: string;
  readonly port: MessagePort;
}

/** `statement`: the statement is at fault. `failed`: it could not be carried out. */
export type FailureKind = 'statement' | 'failed';

/** Thread → main, on the query's port. `done` and `failed` are the last. */
export type Ask =
  | { readonly kind: 'rows'; readonly scan: ScanRequest }
  | { readonly kind: 'take'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly failure: FailureKind; readonly message: string };

export type LastAsk = Extract<Ask, { kind: 'done' | 'failed' }>;

/** Main → thread, on the query's port. An empty batch of rows ends the scan. */
export type Answer =
  | { readonly kind: 'rows'; readonly rows: readonly Row[] }
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly failure: FailureKind; readonly message: string }
  | { readonly kind: 'stop' };
