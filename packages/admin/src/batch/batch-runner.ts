/**
 * Runs one batch operation: page by page, each page written down before it is done. Whoever takes it over after a crash repeats one
 * page, and repeating a page has no second effect.
 */

import { EngineError } from '@engine/domain';
import type { BatchOperation } from '@engine/metadata';
import type { Clock } from '@engine/runtime';
import { batchFailed } from '../events.js';
import type { BatchStore } from './batch-store.js';
import type { PagePerformer } from './page-performer.js';
import type { NextPage, PagePlanner } from './page-planner.js';
import { advanced, ended } from './progress.js';

export interface BatchRunnerDependencies {
  readonly store: BatchStore;
  readonly planner: PagePlanner;
  readonly performer: PagePerformer;
  readonly clock: Clock;
  /** Of this admin. */
  readonly owner: string;
}

export class BatchRunner {
  readonly #dependencies: BatchRunnerDependencies;

  constructor(dependencies: BatchRunnerDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Resolves when it has ended, when `signal` stops it, or when another admin took it over; never rejects. `isTakenOver`: its page
   * may be done in part.
   */
  async run(id: string, isTakenOver: boolean, signal: AbortSignal): Promise<void> {
    try {
      let batch = await this.#page(id, isTakenOver, signal);
      while (batch.status === 'running' && !signal.aborted) {
        batch = await this.#page(id, false, signal);
      }
    } catch (error) {
      await this.#fail(id, error);
    }
  }

  /** Does the page that is written down, and writes down what came of it together with the next one. */
  async #page(id: string, isRepeat: boolean, signal: AbortSignal): Promise<BatchOperation> {
    const { store, planner, performer, clock } = this.#dependencies;
    const batch = store.require(id);
    const results = await performer.perform(batch, isRepeat, signal);
    const save = (next: NextPage | undefined): Promise<BatchOperation> =>
      store.change(id, (newest) =>
        advanced(this.#owned(newest), { results, next, now: clock.now() }),
      );
    if (signal.aborted) return save(undefined);
    const next = await planner.next(batch).catch(async (error: unknown) => {
      // What is done stays counted, though nothing can follow.
      await save(undefined);
      throw error;
    });
    return save(next);
  }

  async #fail(id: string, error: unknown): Promise<void> {
    const { store, clock } = this.#dependencies;
    batchFailed(id, error);
    const reason = error instanceof Error ? error.message : String(error);
    try {
      await store.change(id, (newest) =>
        newest.status === 'running'
          ? ended(this.#owned(newest), { status: 'failed', reason, now: clock.now() })
          : newest,
      );
    } catch (second) {
      // It stays as it is written; the next start takes it up.
      batchFailed(id, second);
    }
  }

  #owned(batch: BatchOperation): BatchOperation {
    if (batch.owner === this.#dependencies.owner) return batch;
    throw new EngineError('conflict', 'another admin runs this batch operation now');
  }
}
