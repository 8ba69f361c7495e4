/** What a node says of its part in the partitions. */

import {
  toPartitionId,
  type LeadershipFault,
  type PartitionId,
  type PartitionPhase,
  type PartitionReport,
} from '@engine/domain';

import { enumCodec } from '../codec.js';
import * as gen from '../gen/engine/node/v1/node.js';
import type { AppliedPosition } from '../services/node-control.js';

const P = gen.PartitionPhase;
const F = gen.LeadershipFault;

const phases = enumCodec<PartitionPhase, gen.PartitionPhase>('partition phase', {
  idle: P.PARTITION_PHASE_IDLE,
  follower: P.PARTITION_PHASE_FOLLOWER,
  candidate: P.PARTITION_PHASE_CANDIDATE,
  announcing: P.PARTITION_PHASE_ANNOUNCING,
  rebuilding: P.PARTITION_PHASE_REBUILDING,
  leader: P.PARTITION_PHASE_LEADER,
  'stepping-down': P.PARTITION_PHASE_STEPPING_DOWN,
  quarantined: P.PARTITION_PHASE_QUARANTINED,
});

const faults = enumCodec<LeadershipFault, gen.LeadershipFault>('leadership fault', {
  ahead: F.LEADERSHIP_FAULT_AHEAD,
  'other-branch': F.LEADERSHIP_FAULT_OTHER_BRANCH,
  'other-incarnation': F.LEADERSHIP_FAULT_OTHER_INCARNATION,
  'tail-lost': F.LEADERSHIP_FAULT_TAIL_LOST,
  format: F.LEADERSHIP_FAULT_FORMAT,
  clock: F.LEADERSHIP_FAULT_CLOCK,
});

export function reportsToWire(
  reports: ReadonlyMap<PartitionId, PartitionReport>,
): gen.ReportsResponse {
  return { reports: Array.from(reports, ([partition, report]) => reportToWire(partition, report)) };
}

/** Throws EngineError `storage` when a report says something that this version has no word for. */
export function reportsFromWire({
  reports,
}: gen.ReportsResponse): ReadonlyMap<PartitionId, PartitionReport> {
  return new Map(
    reports.map((report) => [toPartitionId(report.partition), reportFromWire(report)]),
  );
}

function reportToWire(partition: PartitionId, report: PartitionReport): gen.PartitionReport {
  return {
    partition,
    phase: phases.toWire[report.phase],
    epoch: report.epoch,
    logEpoch: report.logEpoch,
    applied: report.applied,
    isCaughtUp: report.isCaughtUp,
    isStuck: report.isStuck,
    fault: report.fault === undefined ? undefined : faults.toWire[report.fault],
  };
}

function reportFromWire(message: gen.PartitionReport): PartitionReport {
  return {
    phase: phases.fromWire(message.phase),
    epoch: message.epoch,
    logEpoch: message.logEpoch,
    applied: message.applied,
    isCaughtUp: message.isCaughtUp,
    isStuck: message.isStuck,
    fault: message.fault === undefined ? undefined : faults.fromWire(message.fault),
  };
}

export function appliedToWire(position: AppliedPosition | undefined): gen.AppliedResponse {
  return { position };
}

export function appliedFromWire({ position }: gen.AppliedResponse): AppliedPosition | undefined {
  return position;
}
