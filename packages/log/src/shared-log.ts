/**
 * Port of the log of one partition as its replicas see it, kept where a machine that dies does not take it along. Any number of
 * replicas read it, one at a time leads. An embedded partition needs none of this: its store is its log (PartitionLog alone).
 *
 * What every reader leans on: a log is a chain (chainAfter). A store may go on after its position only if the record there
 * continues the chain; otherwise it is told how its position and the log differ, and repairs nothing by itself.
 */

import type { PartitionLog } from './partition-log.js';
import type { LogPosition, LogRecord } from './record.js';

/** Applies one record to the store of a replica. The next one is not handed over before the promise resolves. */
export type ApplyRecord = (record: LogRecord) => Promise<void> | undefined;

/** Why a position cannot be continued. */
export type LogBreak =
  /** The records after the position were trimmed: restore a snapshot. `oldest`: the first record that is left. */
  | { readonly kind: 'trimmed'; readonly oldest: bigint }
  /** The position is beyond the end of the log: the log lost records that were acknowledged. Nobody may lead. */
  | { readonly kind: 'ahead'; readonly last: bigint }
  /** The log holds another history at `sequence`, is damaged there, or belongs to another partition. Quarantine the store. */
  | { readonly kind: 'diverged'; readonly sequence: bigint; readonly why: string };

export type FollowOutcome =
  | {
      /** Everything that was in the log when the end was asked for is applied. */
      readonly kind: 'at-end';
      readonly position: LogPosition;
      /** How far the clock of this machine is off that of the log, at least. Positive: ahead. */
      readonly clockOffMs: number;
    }
  | LogBreak;

export interface FollowRequest {
  /** Position of the store; LOG_START for an empty one. */
  readonly from: LogPosition;
  readonly apply: ApplyRecord;
  /** True: ends once the present end of the log is applied. False: goes on until the signal. */
  readonly stopAtEnd: boolean;
  readonly signal: AbortSignal;
}

/** What keeps appends from being acknowledged. The log goes on trying: later decisions rest on the record. */
export type LogHealth =
  | { readonly kind: 'ok' }
  /** The log refuses the record for want of space or for its size: the partition is not ready. */
  | { readonly kind: 'refused'; readonly why: string }
  /** No acknowledgement for too long: somebody else should try to lead, and somebody should look. */
  | { readonly kind: 'silent'; readonly forMs: number };

export interface Candidate {
  /** From the partition table; above that of every leader before. */
  readonly epoch: bigint;
  /** Name of this node, for the announcement. */
  readonly node: string;
  /** Position of the candidate's store. */
  readonly from: LogPosition;
  readonly apply: ApplyRecord;
  /** Told of each change. */
  readonly onHealth?: (health: LogHealth) => void;
  readonly signal: AbortSignal;
}

export type TakeOver =
  /** The announcement is in the log and applied; all before it is history. */
  | { readonly kind: 'leading'; readonly log: LeaderLog }
  /** The log knows this epoch or a higher one: take max(table, log) + 1. */
  | { readonly kind: 'superseded'; readonly epoch: bigint }
  /** The clock of this machine is too far off that of the log. Positive: ahead. */
  | { readonly kind: 'clock-off'; readonly byMs: number }
  | LogBreak;

/** The log in the hands of its leader. */
export interface LeaderLog extends PartitionLog {
  /** When the log took the announcement, in ms since 1970 by its own clock: record time never goes below it. */
  readonly announcedAt: number;
  /**
   * Stops resending. A commit under way stays open for ever, and its record may still land; the next leader sees to that.
   * Effects: nothing is written.
   */
  resign(): void;
}

export interface LogEnd {
  /** Position after the last whole record. */
  readonly position: LogPosition;
  /** Highest epoch that the log knows. */
  readonly epoch: bigint;
}

export interface SharedLog {
  /** Where the log ends, as its own leader says. `undefined` while it has no record. */
  end(): Promise<LogEnd | undefined>;
  /** Applies the records after a position, in order, each verified. Rejects with the signal's reason. */
  follow(request: FollowRequest): Promise<FollowOutcome>;
  /** Applies what is missing, announces the epoch, and applies the announcement. Rejects with the signal's reason. */
  takeOver(candidate: Candidate): Promise<TakeOver>;
  /**
   * Removes the records up to `sequence`, which a snapshot holds; the newest record always stays. Trimming what is gone is no
   * error. Resolves with the oldest sequence that is left.
   */
  trim(sequence: bigint): Promise<bigint>;
}
