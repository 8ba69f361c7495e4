/** What happens to snapshots, for logs and metrics. */

import type { PartitionId } from '@engine/domain';

import type { Snapshot } from './manifest.js';

export type SnapshotEvent =
  /** It counts from now on. */
  | {
      readonly kind: 'taken';
      readonly partition: PartitionId;
      readonly snapshot: Snapshot;
      readonly durationMs: number;
    }
  /** A snapshot or what follows it failed; tried again after a while. */
  | {
      readonly kind: 'failed';
      readonly partition: PartitionId;
      readonly error: unknown;
      readonly retryMs: number;
    }
  /** A snapshot is damaged or cannot be read. An older one is taken in its place. */
  | {
      readonly kind: 'skipped';
      readonly partition: PartitionId;
      readonly name: string;
      readonly why: string;
    }
  | { readonly kind: 'deleted'; readonly partition: PartitionId; readonly name: string }
  /** The log has no records below `oldest` any more. */
  | { readonly kind: 'trimmed'; readonly partition: PartitionId; readonly oldest: bigint };
