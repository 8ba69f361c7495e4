/** The cluster as operators read it. Numbers of 64 bits are texts. */

import type { PlacementOrders } from '@engine/domain';
import type {
  ClusterAlarm,
  ClusterStatus,
  NodeStatus,
  PartitionStatus,
  ReplicaStatus,
} from '../cluster/cluster-status.js';

export function clusterView(status: ClusterStatus): object {
  const { self, controller } = status;
  return {
    cluster_name: status.name,
    is_cluster: status.isCluster,
    answered_by: self,
    controller: controller ?? null,
    format_version: status.formatVersion,
    table_version: status.tableVersion ?? null,
    orders: ordersView(status.orders),
    alarms: status.alarms.map(alarmView),
    nodes: status.nodes.map(nodeView),
    partitions: status.partitions.map(partitionView),
  };
}

export function ordersView({ drained, pins, isFrozen }: PlacementOrders): object {
  return {
    drained: [...drained].sort(),
    pins: pins.toSorted((a, b) => a.partition - b.partition),
    is_frozen: isFrozen,
  };
}

function nodeView({ node, liveness, isDrained, leadsCount, followsCount }: NodeStatus): object {
  const { internal, ingress, admin } = node.addresses;
  return {
    id: node.id,
    incarnation: node.incarnation,
    roles: node.roles,
    addresses: { internal, ingress: ingress ?? null, admin: admin ?? null },
    zone: node.zone ?? null,
    version: node.binaryVersion,
    liveness,
    is_leaving: node.isLeaving,
    is_drained: isDrained,
    leads: leadsCount,
    follows: followsCount,
  };
}

function partitionView({ id, assignment, pinnedTo, replicas }: PartitionStatus): object {
  return {
    id,
    leader: assignment.leader ?? null,
    epoch: String(assignment.epoch),
    standbys: assignment.standbys,
    pinned_to: pinnedTo ?? null,
    replicas: replicas.map(replicaView),
  };
}

function replicaView({ node, report, lag }: ReplicaStatus): object {
  return {
    node,
    phase: report.phase,
    epoch: String(report.epoch),
    log_epoch: String(report.logEpoch),
    applied: String(report.applied),
    lag: lag === undefined ? null : String(lag),
    is_caught_up: report.isCaughtUp,
    is_stuck: report.isStuck,
    fault: report.fault ?? null,
  };
}

function alarmView({ kind, message, nodes, partition, at }: ClusterAlarm): object {
  return {
    kind,
    message,
    nodes,
    partition: partition ?? null,
    at: at === undefined ? null : new Date(at).toISOString(),
  };
}
