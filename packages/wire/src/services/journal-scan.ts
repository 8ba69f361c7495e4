import type { InvocationId, JournalEntry, PartitionId } from '@engine/domain';

/** Where a journal entry stands. */
export interface JournalPosition {
  readonly id: InvocationId;
  readonly index: number;
}

/** A journal entry as stored. */
export interface JournalSnapshot extends JournalPosition {
  readonly entry: JournalEntry;
}

export interface JournalScanOptions {
  /** Only entries of this invocation; undefined = of all. */
  readonly id?: InvocationId | undefined;
  /** At most so many. */
  readonly limit: number;
  /** Start behind this entry, in the order of the store: invocation by invocation, each by index. */
  readonly after?: JournalPosition | undefined;
  /** Only what this partition holds; EngineError `unavailable` from a worker that does not lead it. Undefined = all. */
  readonly partition?: PartitionId | undefined;
}

/** Introspection of the journals of all partitions. Reads committed rows; pages, and reads no further than its reader. */
export interface JournalScan {
  scanJournal(options: JournalScanOptions): AsyncIterable<JournalSnapshot>;
}
