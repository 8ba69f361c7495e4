/** Port of the log of one partition: ordered, durable, one record at a time. */

import type { LogPosition, LogRecord } from './record.js';

export interface PartitionLog {
  /** Position after the last record that is durable and applied. Its epoch is that of this leader. */
  readonly position: LogPosition;
  /**
   * Resolves when the record is durable and applied to the store. At most one record of a partition is in flight: the next
   * one continues this one. When the outcome cannot be known the promise stays open for ever and the owner of the log is
   * told; nothing may be released then.
   *
   * Rejects with EngineError `deposed` when another leader's record stands in its place: nothing of it may be released, and this
   * log takes nothing more. Throws AssertionError when the record does not continue the log.
   */
  commit(record: LogRecord): Promise<void>;
}
