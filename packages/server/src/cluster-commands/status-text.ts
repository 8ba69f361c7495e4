/** The cluster on a terminal. */

import type { ClusterAnswer, OrdersAnswer } from './admin-client.js';
import { textTable } from './text-table.js';

type NodeAnswer = ClusterAnswer['nodes'][number];
type PartitionAnswer = ClusterAnswer['partitions'][number];
type ReplicaAnswer = PartitionAnswer['replicas'][number];

export function statusText(cluster: ClusterAnswer): string {
  return [head(cluster), nodes(cluster.nodes), partitions(cluster.partitions)].join('\n\n');
}

/** One line; `no orders` when everything is left to placement. */
export function ordersText({ drained, pins, is_frozen: isFrozen }: OrdersAnswer): string {
  const parts = [
    ...(isFrozen ? ['frozen: nothing moves'] : []),
    ...(drained.length > 0 ? [`drained: ${drained.join(', ')}`] : []),
    ...pins.map(({ partition, node }) => `partition ${String(partition)} pinned to ${node}`),
  ];
  return parts.length === 0 ? 'no orders' : parts.join('; ');
}

function head(cluster: ClusterAnswer): string {
  const { cluster_name: name, is_cluster: isCluster, controller } = cluster;
  if (!isCluster) return `${name}: one process with all roles`;
  const table = cluster.table_version === null ? 'none yet' : String(cluster.table_version);
  return [
    `cluster ${name}`,
    `controller ${controller ?? 'none now'}; table ${table}; format ${String(cluster.format_version)}`,
    ordersText(cluster.orders),
    ...cluster.alarms.map(({ message }) => `ALARM ${message}`),
  ].join('\n');
}

function nodes(all: readonly NodeAnswer[]): string {
  return textTable(
    [
      { heading: 'NODE' },
      { heading: 'ROLES' },
      { heading: 'STATE' },
      { heading: 'ZONE' },
      { heading: 'ADDRESS' },
      { heading: 'VERSION' },
      { heading: 'LEADS', isNumber: true },
      { heading: 'FOLLOWS', isNumber: true },
    ],
    all.map((node) => [
      node.id,
      node.roles.join(','),
      stateOf(node),
      node.zone ?? '-',
      node.addresses.internal === '' ? '-' : node.addresses.internal,
      node.version === '' ? '-' : node.version,
      ...partsOf(node),
    ]),
  );
}

function partsOf({ roles, leads, follows }: NodeAnswer): readonly string[] {
  return roles.includes('worker') ? [String(leads), String(follows)] : ['-', '-'];
}

function stateOf({ liveness, is_leaving: isLeaving, is_drained: isDrained }: NodeAnswer): string {
  const isLeavingAlive = isLeaving && liveness !== 'gone';
  return [liveness, ...(isLeavingAlive ? ['leaving'] : []), ...(isDrained ? ['drained'] : [])].join(
    ', ',
  );
}

function partitions(all: readonly PartitionAnswer[]): string {
  return textTable(
    [
      { heading: 'PARTITION', isNumber: true },
      { heading: 'LEADER' },
      { heading: 'EPOCH', isNumber: true },
      { heading: 'PHASE' },
      { heading: 'APPLIED', isNumber: true },
      { heading: 'OTHERS' },
    ],
    all.map((partition) => {
      const { id, leader, epoch, replicas, pinned_to: pinnedTo } = partition;
      const own = replicas.find(({ node }) => node === leader);
      const pin =
        pinnedTo === null ? '' : pinnedTo === leader ? ' (pinned)' : ` (pin: ${pinnedTo})`;
      const phase = own === undefined ? '-' : `${own.phase}${troubleOf(own)}`;
      return [
        String(id),
        `${leader ?? '-'}${pin}`,
        epoch,
        phase,
        own?.applied ?? '-',
        othersOf(partition),
      ];
    }),
  );
}

function othersOf({ leader, standbys, replicas }: PartitionAnswer): string {
  const silent = standbys.filter((id) => !replicas.some(({ node }) => node === id));
  const others = replicas.filter(({ node }) => node !== leader).map(replicaText);
  const texts = [...others, ...silent.map((id) => `${id} (says nothing)`)];
  return texts.length === 0 ? '-' : texts.join(', ');
}

function replicaText(replica: ReplicaAnswer): string {
  const { node, phase, lag, is_caught_up: isCaughtUp } = replica;
  const role = phase === 'follower' ? (isCaughtUp ? '' : ' filling') : ` ${phase}`;
  const behind = lag === null ? '' : ` lag ${lag}`;
  return `${node}${role}${behind}${troubleOf(replica)}`;
}

function troubleOf({ fault, is_stuck: isStuck }: ReplicaAnswer): string {
  return `${fault === null ? '' : ` (${fault})`}${isStuck ? ' (stuck)' : ''}`;
}
