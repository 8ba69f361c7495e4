/** What a decision may know beside the state and the command: constants of the partition and its place in the log. */

import type { InvocationId, PartitionId } from '@engine/domain';

export interface PartitionContext {
  readonly self: PartitionId;
  readonly partitionOf: (id: InvocationId) => PartitionId;
  /**
   * Number of the record that this decision goes into. It names the incarnation of every invocation created here, so that
   * timers and answers of an earlier use of the same id can be told apart (SPEC INV-6).
   */
  readonly incarnation: number;
  /** SHA-256, for versions of states. */
  readonly sha256: (bytes: Uint8Array) => Uint8Array;
}
