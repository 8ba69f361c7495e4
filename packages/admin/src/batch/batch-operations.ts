/**
 * Operations on many invocations, as work of the server: begun by a request, readable and abortable meanwhile, and taken up again
 * after a restart.
 *
 * One admin runs them. It claims what it finds at its start; an admin that lost its claim notices at its next page, because it may
 * only save what it owns. In a cluster, whoever holds the lease of the admin would be the one that calls `start`.
 */

import { EngineError, ulidText } from '@engine/domain';
import type { BatchOperation, BatchSelection } from '@engine/metadata';
import { TaskGroup, type Clock, type Scheduler } from '@engine/runtime';
import { batchEnded, batchFailed, batchStarted } from '../events.js';
import type { Operation } from '../invocation-operations.js';
import { BATCH_RUNNING_MAX, STOP_GRACE_MS } from '../limits.js';
import type { BatchRunner } from './batch-runner.js';
import type { BatchStore } from './batch-store.js';

export interface BatchRequest {
  readonly operation: Operation;
  readonly selection: BatchSelection;
  readonly isDryRun: boolean;
}

export interface BatchOperationsDependencies {
  readonly store: BatchStore;
  readonly runner: BatchRunner;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly newUlid: () => Uint8Array;
  /** Of this admin. */
  readonly owner: string;
}

export class BatchOperations implements AsyncDisposable {
  readonly #dependencies: BatchOperationsDependencies;
  readonly #tasks: TaskGroup;
  /** What stops each one that runs here. */
  readonly #running = new Map<string, AbortController>();

  constructor(dependencies: BatchOperationsDependencies) {
    this.#dependencies = dependencies;
    this.#tasks = new TaskGroup(dependencies.scheduler);
  }

  /** Reads what there is. To be called first. */
  async load(): Promise<void> {
    await this.#dependencies.store.load();
  }

  /** Takes up what was running when the last admin ended. */
  async start(): Promise<void> {
    const { store, owner } = this.#dependencies;
    for (const { id, status, isAbortRequested } of store.list()) {
      if (status !== 'running' || this.#running.has(id)) continue;
      try {
        await store.change(id, (batch) => ({ ...batch, owner }));
      } catch (error) {
        batchFailed(id, error);
        continue;
      }
      const controller = this.#claim(id);
      if (isAbortRequested) controller.abort();
      this.#run(id, true, controller);
    }
  }

  /** Newest first. */
  list(): readonly BatchOperation[] {
    return this.#dependencies.store.list();
  }

  /** Errors: `not-found`. */
  require(id: string): BatchOperation {
    return this.#dependencies.store.require(id);
  }

  /** Resolves when it is written down and begins. Errors: `overloaded` when too many run. */
  async begin({ operation, selection, isDryRun }: BatchRequest): Promise<BatchOperation> {
    const { store, clock, newUlid, owner } = this.#dependencies;
    if (this.#running.size >= BATCH_RUNNING_MAX) {
      throw new EngineError(
        'overloaded',
        `${String(BATCH_RUNNING_MAX)} batch operations run already; wait for the end of one, or abort one`,
      );
    }
    const id = `batch_${ulidText(newUlid())}`;
    const batch: BatchOperation = {
      id,
      owner,
      operation,
      selection,
      isDryRun,
      status: 'running',
      isAbortRequested: false,
      reason: undefined,
      createdAt: clock.now(),
      endedAt: undefined,
      cursor:
        selection.kind === 'ids' ? { kind: 'index', index: 0 } : { kind: 'after', id: undefined },
      page: [],
      scanned: 0,
      matched: 0,
      succeeded: 0,
      failed: 0,
      skipped: 0,
      failures: [],
    };
    const controller = this.#claim(id);
    try {
      await store.add(batch);
    } catch (error) {
      this.#running.delete(id);
      throw error;
    }
    this.#run(id, false, controller);
    return batch;
  }

  /**
   * Asks it to end: nothing more is begun, and what was done stays done. Resolves with the batch operation as it is, when the wish
   * is durable; on one that has ended it changes nothing. Errors: `not-found`.
   */
  async abort(id: string): Promise<BatchOperation> {
    const batch = await this.#dependencies.store.change(id, (newest) =>
      newest.status === 'running' && !newest.isAbortRequested
        ? { ...newest, isAbortRequested: true }
        : newest,
    );
    this.#running.get(id)?.abort();
    return batch;
  }

  /** Lets what is begun be decided, for a moment; the rest is taken up at the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tasks.stop(STOP_GRACE_MS);
  }

  #claim(id: string): AbortController {
    const controller = new AbortController();
    this.#running.set(id, controller);
    return controller;
  }

  #run(id: string, isTakenOver: boolean, controller: AbortController): void {
    const { runner, store } = this.#dependencies;
    this.#tasks.run(async (stopping) => {
      batchStarted(store.get(id), isTakenOver);
      await runner.run(id, isTakenOver, AbortSignal.any([stopping, controller.signal]));
      this.#running.delete(id);
      batchEnded(store.get(id));
    });
  }
}
