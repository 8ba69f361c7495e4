/** What a plan says of a cluster: its size and its own faults. Absent values are the ones below. */

export interface ClusterShape {
  /** Processes of each role. */
  workers: number;
  admins: number;
  ingresses: number;
  /** Replicas of a partition beside its leader. */
  standbys: number;
  /** Largest message of a log: larger records are split. */
  payloadBytesMax: number;
  /** How long an ingress waits for a leader, ms. */
  leaderWaitMs: number;
  /** Mean time between two strikes, ms; 0 = none. */
  strikeEveryMs: number;
  /** Snapshots are taken so often, ms; 0 = never. */
  snapshotEveryMs: number;
  /** Share of messages between processes that are lost, and of messages between partitions that come twice. */
  messageLoss: number;
  messageRepetition: number;
  /** Share of answers of the metadata store that are lost. */
  documentAnswerLoss: number;
  /** Of the publishes of a log. */
  lostAppend: number;
  lateAppend: number;
  lostAck: number;
  leaderChange: number;
}

export const CALM_CLUSTER: ClusterShape = {
  workers: 3,
  admins: 2,
  ingresses: 2,
  standbys: 1,
  payloadBytesMax: 1024 * 1024,
  leaderWaitMs: 60_000,
  strikeEveryMs: 0,
  snapshotEveryMs: 0,
  messageLoss: 0,
  messageRepetition: 0,
  documentAnswerLoss: 0,
  lostAppend: 0,
  lateAppend: 0,
  lostAck: 0,
  leaderChange: 0,
};

/** Turns every fault off; sizes stay. */
export function calmCluster(shape: ClusterShape): void {
  const { strikeEveryMs, messageLoss, messageRepetition, documentAnswerLoss } = CALM_CLUSTER;
  const { lostAppend, lateAppend, lostAck, leaderChange } = CALM_CLUSTER;
  Object.assign(shape, { strikeEveryMs, messageLoss, messageRepetition, documentAnswerLoss });
  Object.assign(shape, { lostAppend, lateAppend, lostAck, leaderChange });
}
