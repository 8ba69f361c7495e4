/** Chooses the invocations of the next page of a batch operation. Reads a bounded number of them, changes nothing. */

import {
  composeInvocationId,
  partitionKeyOf,
  type Hashes,
  type InvocationId,
} from '@engine/domain';
import type { BatchCursor, BatchFilter, BatchOperation, PlannedInvocation } from '@engine/metadata';
import { encodeUtf8 } from '@engine/stdx';
import type { InvocationScan, InvocationSnapshot } from '@engine/wire';
import { BATCH_PAGE_INVOCATIONS, BATCH_PAGE_SCANNED_MAX } from '../limits.js';
import { isSelected } from './selection.js';

export interface NextPage {
  readonly cursor: BatchCursor;
  readonly page: readonly PlannedInvocation[];
  readonly scanned: number;
  readonly matched: number;
}

export class PagePlanner {
  readonly #invocations: InvocationScan;
  readonly #hashes: Hashes;

  constructor(invocations: InvocationScan, hashes: Hashes) {
    this.#invocations = invocations;
    this.#hashes = hashes;
  }

  /** The page at the cursor. Empty pages come too: so much was looked through without a find. */
  async next(batch: BatchOperation): Promise<NextPage> {
    const { cursor, selection } = batch;
    if (selection.kind === 'ids' && cursor.kind === 'index') {
      const end = cursor.index + BATCH_PAGE_INVOCATIONS;
      const page = await this.#named(selection.ids.slice(cursor.index, end));
      const isLast = end >= selection.ids.length;
      return found(isLast ? { kind: 'end' } : { kind: 'index', index: end }, page, batch);
    }
    if (selection.kind === 'filter' && cursor.kind === 'after') {
      return this.#scan(batch, selection.filter, cursor.id);
    }
    return { cursor: { kind: 'end' }, page: [], scanned: 0, matched: 0 };
  }

  /** The id of what a restart of `original` by this batch operation makes, the same whenever it is asked. */
  restartedId(batchId: string, original: InvocationId): InvocationId {
    const digest = this.#hashes.sha256(encodeUtf8(`${batchId},${original}`));
    return composeInvocationId(partitionKeyOf(original), digest);
  }

  async #named(ids: readonly InvocationId[]): Promise<readonly PlannedInvocation[]> {
    const lengths = new Map<InvocationId, number>();
    for await (const { id, invocation } of this.#invocations.scan({ ids, limit: ids.length })) {
      lengths.set(id, invocation.journalLength);
    }
    return ids.map((id) => ({ id, journalLength: lengths.get(id) ?? 0 }));
  }

  async #scan(
    batch: BatchOperation,
    filter: BatchFilter,
    behind: InvocationId | undefined,
  ): Promise<NextPage> {
    const page: PlannedInvocation[] = [];
    const pageLengthMax = batch.isDryRun ? BATCH_PAGE_SCANNED_MAX : BATCH_PAGE_INVOCATIONS;
    let scanned = 0;
    let after = behind;
    const rows = this.#invocations.scan({ limit: BATCH_PAGE_SCANNED_MAX, after });
    for await (const snapshot of rows) {
      scanned += 1;
      after = snapshot.id;
      if (!isSelected(batch, filter, snapshot) || this.#isMadeHere(batch, snapshot)) continue;
      page.push({ id: snapshot.id, journalLength: snapshot.invocation.journalLength });
      if (page.length === pageLengthMax) break;
    }
    const isAtEnd = scanned < BATCH_PAGE_SCANNED_MAX && page.length < pageLengthMax;
    const cursor: BatchCursor = isAtEnd ? { kind: 'end' } : { kind: 'after', id: after };
    return { ...found(cursor, page, batch), scanned };
  }

  /** Two clocks may differ, so what this batch operation made is known by its id too. */
  #isMadeHere(batch: BatchOperation, { id, invocation }: InvocationSnapshot): boolean {
    const { source } = invocation;
    return source.kind === 'restart-as-new' && id === this.restartedId(batch.id, source.originalId);
  }
}

function found(
  cursor: BatchCursor,
  page: readonly PlannedInvocation[],
  { isDryRun }: BatchOperation,
): NextPage {
  const count = page.length;
  return { cursor, page: isDryRun ? [] : page, scanned: count, matched: count };
}
