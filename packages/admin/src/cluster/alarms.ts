/** What asks for an operator. */

import type { SilenceAlarm } from './cluster-picture.js';
import type { AlarmKind, ClusterAlarm, PartitionStatus, ReplicaStatus } from './cluster-status.js';

export function alarmsOf(
  partitions: readonly PartitionStatus[],
  silence: SilenceAlarm | undefined,
): ClusterAlarm[] {
  const silent = silence === undefined ? [] : [silenceAlarm(silence)];
  const others = partitions.flatMap(({ id, replicas }) =>
    replicas.flatMap((replica) => replicaAlarm(id, replica) ?? []),
  );
  return [...silent, ...others];
}

function silenceAlarm({ nodes, at }: SilenceAlarm): ClusterAlarm {
  const message = `${String(nodes.length)} workers fell silent at once; nothing is moved away from them for another lease time`;
  return { kind: 'workers-silent', message, nodes, partition: undefined, at };
}

function replicaAlarm(
  partition: number,
  { node, report }: ReplicaStatus,
): ClusterAlarm | undefined {
  const { fault, phase, isStuck } = report;
  const alarm = (kind: AlarmKind, message: string): ClusterAlarm => ({
    kind,
    message: `partition ${String(partition)} on ${node}: ${message}`,
    nodes: [node],
    partition,
    at: undefined,
  });
  if (fault === 'tail-lost') {
    return alarm('tail-lost', 'the log lost acknowledged records; nobody leads until you decide');
  }
  if (phase === 'quarantined' || fault !== undefined) {
    return alarm('quarantined', FAULTS[fault ?? 'ahead']);
  }
  return isStuck ? alarm('stuck', 'its appends are not acknowledged') : undefined;
}

const FAULTS = {
  ahead: 'the log ends before the store',
  'other-branch': 'the log has another history than the store',
  'other-incarnation': 'the log was made anew since the store was written',
  'tail-lost': 'the log lost acknowledged records',
  format: 'the stored format is newer than this server',
  clock: "the clock of the node is too far off the log's",
} as const;
