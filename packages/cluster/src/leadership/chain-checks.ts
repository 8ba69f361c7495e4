/**
 * What is checked before a store follows or leads, and with each record that it reads (docs/design/leadership.md). Every fault here is told
 * and waits for somebody to decide; nothing is repaired in silence.
 */

import type { NodeId, PartitionId } from '@engine/domain';
import {
  chainAfter,
  LOG_START,
  type Checksum,
  type LogPosition,
  type LogRecord,
} from '@engine/log';
import { assert } from '@engine/stdx';

/** What the first record of a log says of itself. */
export interface LogOrigin {
  readonly clusterId: string;
  readonly partition: PartitionId;
  /** A log that was made anew, such as by a restore that lost a tail, has another one. */
  readonly incarnation: string;
}

/** What a store says of itself; a store without anything is undefined. */
export interface StorePlace {
  readonly incarnation: string;
  readonly position: LogPosition;
}

export interface LogExtent {
  readonly incarnation: string;
  /** First record that can be read; above `last` when there is none. */
  readonly first: bigint;
  /** Last record; 0 for an empty log. */
  readonly last: bigint;
  /**
   * The record after the place of the store; for a store at the end the record of that place itself. Undefined when the log does not have
   * it (any more). A trim keeps at least the last record.
   */
  readonly witness: LogRecord | undefined;
}

/**
 * `continues`: the log goes on where the store ends. `trimmed`: it goes on, but begins later; the store is restored from a snapshot.
 * The others are quarantined.
 */
export type StoreVerdict = 'continues' | 'trimmed' | 'ahead' | 'other-branch' | 'other-incarnation';

/** How a store stands to its log. */
export function judgeStore(
  store: StorePlace | undefined,
  log: LogExtent,
  checksum: Checksum,
): StoreVerdict {
  const position = store?.position ?? LOG_START;
  if (store !== undefined && store.incarnation !== log.incarnation) return 'other-incarnation';
  if (position.sequence > log.last) return 'ahead';
  if (log.last === 0n) return 'continues';
  const { witness } = log;
  const isAtEnd = position.sequence === log.last;
  if (witness === undefined) return 'trimmed';
  if (!isAtEnd) return judgeRecord(position, witness, checksum);
  assert(witness.sequence === position.sequence, 'the witness of a store at the end is its record');
  const isSame = witness.chain === position.chain && witness.epoch === position.epoch;
  return isSame ? 'continues' : 'other-branch';
}

/** How the next record stands to what was applied. Checked for every record that a follower or candidate reads. */
export function judgeRecord(
  position: LogPosition,
  record: LogRecord,
  checksum: Checksum,
): 'continues' | 'other-branch' {
  const isNext = record.sequence === position.sequence + 1n && record.epoch >= position.epoch;
  if (!isNext) return 'other-branch';
  const isChained = chainAfter(position.chain, record, checksum) === record.chain;
  return isChained ? 'continues' : 'other-branch';
}

export type OriginVerdict = 'ours' | 'other-cluster' | 'other-partition' | 'other-incarnation';

/** Whether a log is the one that was meant. `incarnation` undefined: the store is new and takes what it finds. */
export function judgeOrigin(
  expected: Omit<LogOrigin, 'incarnation'> & { readonly incarnation: string | undefined },
  found: LogOrigin,
): OriginVerdict {
  if (found.clusterId !== expected.clusterId) return 'other-cluster';
  if (found.partition !== expected.partition) return 'other-partition';
  const isOurs = expected.incarnation === undefined || found.incarnation === expected.incarnation;
  return isOurs ? 'ours' : 'other-incarnation';
}

/** What a replica has applied, as it answered a candidate. */
export interface ReplicaPosition {
  readonly node: NodeId;
  readonly sequence: bigint;
  readonly chain: bigint;
}

export interface LogTail {
  /** Where the log ends, read after the replicas answered. */
  readonly end: LogPosition;
  /** Chain value at a sequence, as far back as the own store knows. */
  readonly chainAt: (sequence: bigint) => bigint | undefined;
}

/** Replicas that applied what the log does not have: acknowledged records were lost. Empty when all is well. */
export function lostTail(
  { end, chainAt }: LogTail,
  replicas: readonly ReplicaPosition[],
): readonly ReplicaPosition[] {
  return replicas.filter(({ sequence, chain }) => {
    if (sequence > end.sequence) return true;
    const known = sequence === end.sequence ? end.chain : chainAt(sequence);
    return known !== undefined && known !== chain;
  });
}

/**
 * What became of an append whose outcome is unknown, by what the log has at its sequence. A timeout, a refusal or "not there" alone prove
 * nothing: then the same bytes are sent again at the same place, and nothing else.
 */
export function settleAppend(
  mine: LogPosition,
  found: LogPosition | undefined,
): 'landed' | 'overtaken' | 'resend' {
  if (found === undefined) return 'resend';
  assert(found.sequence === mine.sequence, 'an append is settled by the record at its place');
  return found.epoch === mine.epoch && found.chain === mine.chain ? 'landed' : 'overtaken';
}
