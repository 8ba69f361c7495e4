/** What an attempt is given at its start: the journal so far and the state of its key, both only as far as they are durable. */

import {
  randomSeedOf,
  readsState,
  type Invocation,
  type InvocationId,
  type JournalEntry,
} from '@engine/domain';
import type { AttemptStart } from '@engine/attempt';
import { assert, encodeUtf8 } from '@engine/stdx';
import type { PartitionScan, StateReader } from '@engine/storage';

import type { Route } from './choose-deployment.js';

/** Longer journals are read in the background: each point read may cost a disk access. */
export const POINT_READS_MAX = 256;

/** Entries that one background read takes. */
const JOURNAL_PAGE_LENGTH = 256;

const NO_STATE: AttemptStart['state'] = { entries: [], complete: false };

/** Largest sum of keys and values, in bytes, that an attempt gets without asking; 0 = none. */
export interface EagerStateLimit {
  readonly eagerStateBytesMax: number;
}

export interface StartOptions extends EagerStateLimit {
  readonly messageSizeBytesMax: number;
  /** Ms since the epoch. */
  readonly now: number;
}

export function attemptStart(
  id: InvocationId,
  given: {
    readonly row: Invocation;
    readonly route: Route;
    readonly journal: readonly JournalEntry[];
    readonly state: StateReader;
  },
  options: StartOptions,
): AttemptStart {
  const { row, route, journal } = given;
  const last = journal.at(-1);
  return {
    invocationId: id,
    target: row.target,
    protocolVersion: route.pin.protocolVersion,
    mode: route.mode,
    journal,
    state: eagerState(given.state, row, {
      isLazy: route.handler?.enableLazyState === true,
      bytesMax: options.eagerStateBytesMax,
    }),
    randomSeed: randomSeedOf(row.inherited?.seedId ?? id),
    retryCountSinceLastCommand: row.retry?.failuresSinceLastCommand ?? 0,
    durationSinceLastEntryMs: last === undefined ? 0 : Math.max(0, options.now - last.appendedAt),
    messageSizeBytesMax: options.messageSizeBytesMax,
  };
}

/** Entries `from` ≤ index < `to` of a journal. */
export function readJournal(
  state: StateReader,
  id: InvocationId,
  range: { readonly from: number; readonly to: number },
): JournalEntry[] {
  const entries: JournalEntry[] = [];
  for (let index = range.from; index < range.to; index += 1) {
    const entry = state.journalEntry(id, index);
    assert(entry !== undefined, 'a journal has no holes');
    entries.push(entry);
  }
  return entries;
}

/** Reads up to `length` durable entries of a journal in the background, page by page. */
export async function loadJournal(
  scan: Pick<PartitionScan, 'journal'>,
  id: InvocationId,
  length: number,
): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  while (entries.length < length) {
    const page = await scan.journal(id, entries.length, JOURNAL_PAGE_LENGTH);
    for (const { index, entry } of page) {
      assert(index === entries.length, 'a journal has no holes');
      entries.push(entry);
    }
    if (page.length < JOURNAL_PAGE_LENGTH) break;
  }
  return entries;
}

function eagerState(
  state: StateReader,
  row: Invocation,
  limit: { readonly isLazy: boolean; readonly bytesMax: number },
): AttemptStart['state'] {
  const { kind, service, key } = row.target;
  if (!readsState(kind) || key === undefined || limit.isLazy || limit.bytesMax === 0) {
    return NO_STATE;
  }
  const entries: [string, Uint8Array][] = [];
  let sizeBytes = 0;
  for (const entry of state.stateDirectory(service, key)?.entries ?? []) {
    sizeBytes += encodeUtf8(entry.key).length + entry.sizeBytes;
    if (sizeBytes > limit.bytesMax) return { entries, complete: false };
    const value = state.state(service, key, entry.key);
    if (value !== undefined) entries.push([entry.key, value]);
  }
  return { entries, complete: true };
}
