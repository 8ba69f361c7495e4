/** What goes into the machine of a controller and what comes out. The driver owns the metadata store, its watches and the probes of nodes. */

import type {
  ClusterNode,
  NodeId,
  PartitionReport,
  PartitionTable,
  PlacementOrders,
} from '@engine/domain';
import type { AccessKind, LeaseSign } from '@engine/metadata';

/** Revision of an entry in the store; `absent` while there is none. Later revisions of one entry are higher. */
export type EntryRevision = bigint | 'absent';

export type ControllerInput =
  /** All watches have told what there was when they began. Nothing is decided before. */
  | { readonly kind: 'synced' }
  /** The controller lease as it stands: who wrote it last. */
  | {
      readonly kind: 'controller-lease';
      readonly holder: NodeId | undefined;
      readonly revision: EntryRevision;
    }
  /** What came of `write-lease`, which was sent at `sentAt`. Refused: somebody else wrote; the lease as it stands was told before. */
  | { readonly kind: 'lease-written'; readonly revision: bigint; readonly sentAt: number }
  | { readonly kind: 'lease-refused' }
  /** An operation on the store succeeded, a watch's heartbeat included. */
  | { readonly kind: 'access-succeeded'; readonly of: AccessKind }
  | { readonly kind: 'access-failed' }
  /** The documents of all nodes. */
  | { readonly kind: 'nodes'; readonly nodes: readonly ClusterNode[] }
  | ({ readonly kind: 'node-lease'; readonly node: NodeId } & LeaseSign)
  /** The node gave its lease back, or was buried, by whomever. */
  | { readonly kind: 'goodbye'; readonly node: NodeId; readonly revision: bigint }
  /** What came of `bury` was told, as `goodbye` or as the lease as it stands. */
  | { readonly kind: 'bury-ended'; readonly node: NodeId }
  /** A probe found nobody listening; one that hangs is not told. */
  | { readonly kind: 'refused'; readonly node: NodeId }
  | { readonly kind: 'reached'; readonly node: NodeId }
  | { readonly kind: 'orders'; readonly orders: PlacementOrders }
  | {
      readonly kind: 'table';
      readonly table: PartitionTable | undefined;
      readonly revision: EntryRevision;
    }
  /** What came of `write-table`. Refused or unknown: the table as it stands was read and told before. */
  | { readonly kind: 'table-written'; readonly revision: bigint }
  | { readonly kind: 'table-refused' }
  /** What a node says of all its partitions: partition → report. */
  | {
      readonly kind: 'reports';
      readonly node: NodeId;
      readonly reports: ReadonlyMap<number, PartitionReport>;
    }
  /** Every 500 ms or so, and soon after other inputs. Only a tick decides. */
  | { readonly kind: 'tick' };

export type ControllerAction =
  /** Take or renew the lease; compare-and-set. One at a time. */
  | { readonly kind: 'write-lease'; readonly expected: EntryRevision }
  /** Write onto the lease of a node that it is counted dead; compare-and-set. One at a time per node. */
  | { readonly kind: 'bury'; readonly node: NodeId; readonly expected: bigint }
  /** Replace the table; compare-and-set. One at a time. */
  | {
      readonly kind: 'write-table';
      readonly table: PartitionTable;
      readonly expected: EntryRevision;
    }
  /** More than half of the workers fell silent at once: nothing is moved away from them for another TTL. */
  | { readonly kind: 'alarm'; readonly silent: readonly NodeId[] };
