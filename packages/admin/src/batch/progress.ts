/** How the document of a batch operation goes on. Pure. */

import type { BatchOperation, PlannedInvocation } from '@engine/metadata';
import { BATCH_FAILURES_LISTED_MAX } from '../limits.js';
import type { NextPage } from './page-planner.js';
import type { Verdict } from './verdict.js';

export interface PageResult {
  readonly planned: PlannedInvocation;
  /** Undefined when it was not done, because the batch operation is aborted or the process stops. */
  readonly verdict: Verdict | undefined;
}

/**
 * After a page. `next` is undefined when there is no time for a next one: then what is left of this page stays the page.
 * `now`: ms since the epoch.
 */
export function advanced(
  batch: BatchOperation,
  {
    results,
    next,
    now,
  }: {
    readonly results: readonly PageResult[];
    readonly next: NextPage | undefined;
    readonly now: number;
  },
): BatchOperation {
  const counted = count(batch, results);
  if (batch.isAbortRequested) return ended(counted, { status: 'aborted', now });
  if (next === undefined) return counted;
  const { cursor, page } = next;
  const going: BatchOperation = {
    ...counted,
    cursor,
    page: [...page],
    scanned: counted.scanned + next.scanned,
    matched: counted.matched + next.matched,
  };
  const isAtEnd = cursor.kind === 'end' && page.length === 0;
  return isAtEnd ? ended(going, { status: 'completed', now }) : going;
}

/** What was chosen and not done any more does not count as matched. */
export function ended(
  batch: BatchOperation,
  end: {
    readonly status: 'completed' | 'aborted' | 'failed';
    readonly reason?: string;
    readonly now: number;
  },
): BatchOperation {
  return {
    ...batch,
    status: end.status,
    reason: end.reason,
    endedAt: Math.max(end.now, batch.createdAt),
    cursor: { kind: 'end' },
    page: [],
    matched: batch.matched - batch.page.length,
  };
}

function count(batch: BatchOperation, results: readonly PageResult[]): BatchOperation {
  const countOf = (kind: Verdict['kind']): number =>
    results.filter(({ verdict }) => verdict?.kind === kind).length;
  const failures = results.flatMap(({ planned, verdict }) =>
    verdict?.kind === 'failed' ? [{ id: planned.id, reason: verdict.reason }] : [],
  );
  return {
    ...batch,
    page: results.filter(({ verdict }) => verdict === undefined).map(({ planned }) => planned),
    succeeded: batch.succeeded + countOf('succeeded'),
    failed: batch.failed + countOf('failed'),
    skipped: batch.skipped + countOf('skipped'),
    failures: [...batch.failures, ...failures].slice(0, BATCH_FAILURES_LISTED_MAX),
  };
}
