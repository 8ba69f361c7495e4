/** Carries out the operation on the invocations of one page. */

import { CANCEL_SIGNAL_INDEX, isEngineError, type EngineError } from '@engine/domain';
import type { BatchOperation, PlannedInvocation } from '@engine/metadata';
import { delay, type Scheduler } from '@engine/runtime';
import type { JournalScan } from '@engine/wire';
import type { InvocationOperations } from '../invocation-operations.js';
import {
  BATCH_OPERATIONS_CONCURRENT_MAX,
  BATCH_REPEAT_ENTRIES_MAX,
  BATCH_RETRY_MS,
  BATCH_RETRY_MS_MAX,
} from '../limits.js';
import { concurrently } from './concurrently.js';
import type { PagePlanner } from './page-planner.js';
import type { PageResult } from './progress.js';
import { judge, SUCCEEDED, type Verdict } from './verdict.js';

/** What passes: the partition is asked again. */
const PASSING: ReadonlySet<EngineError['code']> = new Set(['unavailable', 'overloaded']);

export interface PagePerformerDependencies {
  readonly operations: InvocationOperations;
  readonly journals: JournalScan;
  readonly scheduler: Scheduler;
}

export class PagePerformer {
  readonly #dependencies: PagePerformerDependencies;
  readonly #planner: PagePlanner;

  constructor(dependencies: PagePerformerDependencies, planner: PagePlanner) {
    this.#dependencies = dependencies;
    this.#planner = planner;
  }

  /**
   * Resolves when everything that was begun is decided; after `signal` nothing more is begun. `isRepeat`: some of the page may have
   * been done before.
   */
  perform(
    batch: BatchOperation,
    isRepeat: boolean,
    signal: AbortSignal,
  ): Promise<readonly PageResult[]> {
    return concurrently(batch.page, BATCH_OPERATIONS_CONCURRENT_MAX, async (planned) => ({
      planned,
      verdict: await this.#perform(batch, planned, { isRepeat, signal }),
    }));
  }

  /** Asks until it is decided: a partition that takes no work now is no reason to fail. */
  async #perform(
    batch: BatchOperation,
    planned: PlannedInvocation,
    { isRepeat, signal }: { readonly isRepeat: boolean; readonly signal: AbortSignal },
  ): Promise<Verdict | undefined> {
    let waitMs = BATCH_RETRY_MS;
    for (let isAgain = isRepeat; !signal.aborted; isAgain = true) {
      const verdict = await this.#try(batch, planned, isAgain);
      if (verdict !== undefined) return verdict;
      await waitOr(this.#dependencies.scheduler, waitMs, signal);
      waitMs = Math.min(2 * waitMs, BATCH_RETRY_MS_MAX);
    }
    return undefined;
  }

  /** Undefined when the partition takes no work now, or did not answer. */
  async #try(
    batch: BatchOperation,
    planned: PlannedInvocation,
    isRepeat: boolean,
  ): Promise<Verdict | undefined> {
    const { id } = planned;
    if (isRepeat && batch.operation.kind === 'cancel' && (await this.#isCancelled(planned))) {
      return SUCCEEDED;
    }
    const target = {
      invocationId: id,
      newInvocationId: this.#planner.restartedId(batch.id, id),
      requestId: `${batch.id}/${id}`,
    };
    try {
      const outcome = await this.#dependencies.operations.run(batch.operation, target);
      return judge(batch, id, { outcome, isRepeat });
    } catch (error) {
      if (isEngineError(error) && PASSING.has(error.code)) return undefined;
      throw error;
    }
  }

  /** A second cancellation would reach a handler that is already cleaning up. */
  async #isCancelled({ id, journalLength }: PlannedInvocation): Promise<boolean> {
    const after = journalLength === 0 ? undefined : { id, index: journalLength - 1 };
    const entries = this.#dependencies.journals.scanJournal({
      id,
      limit: BATCH_REPEAT_ENTRIES_MAX,
      after,
    });
    for await (const { entry } of entries) {
      if (entry.kind !== 'notification' || entry.id.kind !== 'signal') continue;
      if (entry.id.index === CANCEL_SIGNAL_INDEX) return true;
    }
    return false;
  }
}

/** Resolves after `ms`, or when `signal` is aborted. */
async function waitOr(scheduler: Scheduler, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(scheduler, ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
