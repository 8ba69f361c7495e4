/** What goes into the machine of a leadership and what comes out. The driver owns log, store, timers and peers; the machine owns the rules. */

import type { LeadershipFault, NodeId, PartitionTable } from '@engine/domain';
import type { LogPosition } from '@engine/log';
import type { LeaseState } from '@engine/metadata';

import type { LogTail, ReplicaPosition, StoreVerdict } from './chain-checks.js';

/** What the table wants of this node. */
export type Assignment =
  | {
      readonly role: 'leader';
      readonly epoch: bigint;
      readonly predecessors: readonly NodeId[];
    }
  | { readonly role: 'standby' | 'none'; readonly epoch: bigint };

/** The part of `node` in a partition. */
export function assignmentOf(table: PartitionTable, partition: number, node: NodeId): Assignment {
  const assignment = table.partitions[partition];
  if (assignment === undefined) return { role: 'none', epoch: 0n };
  const { leader, epoch, standbys, predecessors } = assignment;
  if (leader === node) return { role: 'leader', epoch, predecessors };
  return { role: standbys.includes(node) ? 'standby' : 'none', epoch };
}

export type LeadershipInput =
  /** The store is open and was judged against its log; also after a restore. */
  | {
      readonly kind: 'opened';
      readonly verdict: StoreVerdict | 'format';
      readonly position: LogPosition;
    }
  /** The table changed, if only in predecessors. Tables of older versions than one that was told are not told. */
  | { readonly kind: 'assigned'; readonly assignment: Assignment }
  /** The leader of a later epoch waits for this node to stop. */
  | { readonly kind: 'asked-to-stop'; readonly epoch: bigint }
  /** Records up to here continue the chain and are applied. */
  | { readonly kind: 'records-read'; readonly position: LogPosition }
  /** What was asked by `read-to-end`: everything is applied that the log held when it was asked, stale copies left aside. */
  | {
      readonly kind: 'end-reached';
      /** Number of the `read-to-end`. */
      readonly read: number;
      readonly tail: LogTail;
      readonly clockSkewMs: number;
    }
  /** The place of the store is trimmed away. */
  | { readonly kind: 'log-trimmed' }
  /**
   * A record does not continue the chain, or the log ends before the store: found by a read that no stale copy can answer.
   */
  | { readonly kind: 'log-broken'; readonly fault: 'other-branch' | 'ahead' }
  /** Every replica that could be reached has said what it applied. */
  | { readonly kind: 'replicas-answered'; readonly replicas: readonly ReplicaPosition[] }
  /** A predecessor has stopped for this epoch, or its process is gone. */
  | { readonly kind: 'predecessor-stopped'; readonly node: NodeId; readonly epoch: bigint }
  /**
   * Of the announcement always; of records of a leader after `append-unknown`. `landed` and `overtaken` are proven (`settleAppend`). An
   * announcement that was not tried, because what was read last speaks against it, is overtaken, too: reading on tells why.
   */
  | { readonly kind: 'append-landed'; readonly position: LogPosition }
  | { readonly kind: 'append-overtaken' }
  /** `forMs`: for how long already; default: since now. */
  | { readonly kind: 'append-unknown'; readonly forMs?: number }
  /** The store cannot be read or written, or its rows are not what they must be. */
  | { readonly kind: 'store-failed' }
  | { readonly kind: 'rebuilt' }
  /** All that `stop` asks for is done. */
  | { readonly kind: 'stopped' }
  /**
   * The node's own lease; told at every change, and first after any pause. Before `held` is told after `lost`, the table was read anew and
   * its assignment told.
   */
  | { readonly kind: 'lease'; readonly state: LeaseState }
  /** At least once a second. */
  | { readonly kind: 'tick' };

export type LeadershipAction =
  /** Apply records as they come, and tell `records-read`, until `announce` or `unfollow`. */
  | { readonly kind: 'follow' }
  /** Stop following; the store may be removed later. */
  | { readonly kind: 'unfollow' }
  /** Get the newest snapshot into the store, then tell `opened`. */
  | { readonly kind: 'restore' }
  /** Open the store again and judge it, then tell `opened`. */
  | { readonly kind: 'reopen' }
  | { readonly kind: 'read-to-end'; readonly read: number }
  | { readonly kind: 'ask-replicas' }
  /** Tell `node` that it leads no more since `epoch`, and say when it has stopped. */
  | { readonly kind: 'ask-to-stop'; readonly node: NodeId; readonly epoch: bigint }
  /** Append an empty record of this epoch, expected right after `after`. */
  | { readonly kind: 'announce'; readonly epoch: bigint; readonly after: LogPosition }
  /** Send the same bytes to the same place until it is proven what became of them. Append nothing else meanwhile. */
  | { readonly kind: 'settle-append' }
  /** Timers, attempts and outbox from the indexes of live work. */
  | { readonly kind: 'rebuild' }
  /** Take requests. */
  | { readonly kind: 'serve' }
  /** Abort every attempt and start none. */
  | { readonly kind: 'hold-attempts' }
  | { readonly kind: 'resume-attempts' }
  /** Take no requests, abort attempts, drop cache, open record and waiters, let a running append go. Then tell `stopped`. */
  | { readonly kind: 'stop' }
  /** For an operator, with the reason. */
  | { readonly kind: 'alarm'; readonly fault: LeadershipFault | 'no-acknowledgement' };
