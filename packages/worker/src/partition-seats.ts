import type { PartitionId } from '@engine/domain';

import type { PartitionHome } from './context.js';

/** A worker as those see it who decide what it leads. */
export interface PartitionSeats {
  /**
   * Rebuilds what the partition needs in memory and takes requests. Attempts wait for `resumeAttempts`. Resolves when it serves, or was
   * let go meanwhile.
   */
  lead(id: PartitionId, home: PartitionHome): Promise<void>;
  /**
   * Effects, all before this returns: requests are taken no more, who waits is answered `stopping`, attempts are aborted, nothing more is
   * decided or released, what was in memory is forgotten. Harmless for a partition that is not led.
   */
  letGo(id: PartitionId): void;
  /** Aborts the attempts of a partition and starts none. */
  holdAttempts(id: PartitionId): void;
  /** Starts the attempts that the store knows. Resolves when they run or wait for a slot. */
  resumeAttempts(id: PartitionId): Promise<void>;
}
