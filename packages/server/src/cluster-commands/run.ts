/** Performs `engine cluster …` and says what came of it. */

import { isEngineError } from '@engine/domain';
import { delay, type Scheduler } from '@engine/runtime';
import { assertNever } from '@engine/stdx';

import { AdminClient, type ClusterAnswer, type OrdersAnswer } from './admin-client.js';
import type { ClusterCommand, ClusterInvocation } from './arguments.js';
import { ordersText, statusText } from './status-text.js';

const WAIT_INTERVAL_MS = 500;

export interface ClusterCommandDependencies {
  readonly scheduler: Scheduler;
  readonly print: (text: string) => void;
  readonly complain: (text: string) => void;
}

/** The exit status: 0 done, 1 refused or nobody answers. */
export async function runClusterCommand(
  { command, adminUrl, isWaiting }: ClusterInvocation,
  dependencies: ClusterCommandDependencies,
): Promise<number> {
  const { print, complain } = dependencies;
  const client = new AdminClient(adminUrl);
  try {
    if (command.kind === 'status') {
      print(command.isJson ? await client.clusterText() : statusText(await client.cluster()));
      return 0;
    }
    const orders = await give(command, client);
    print(`${saidOf(command, isWaiting)}\nIn force now: ${ordersText(orders)}.`);
    if (isWaiting) await untilHappened(command, client, dependencies);
    return 0;
  } catch (error) {
    if (!isEngineError(error)) throw error;
    complain(error.message);
    return 1;
  }
}

type Order = Exclude<ClusterCommand, { readonly kind: 'status' }>;

function give(order: Order, client: AdminClient): Promise<OrdersAnswer> {
  switch (order.kind) {
    case 'move':
      return client.order('POST', `${partitionPath(order.partition)}/move`, { node: order.node });
    case 'unpin':
      return client.order('DELETE', `${partitionPath(order.partition)}/pin`);
    case 'drain':
    case 'undrain':
      return client.order('POST', `/cluster/nodes/${encodeURIComponent(order.node)}/${order.kind}`);
    case 'freeze':
    case 'unfreeze':
      return client.order('POST', `/cluster/${order.kind}`);
    default:
      return assertNever(order);
  }
}

function partitionPath(partition: string): string {
  return `/cluster/partitions/${encodeURIComponent(partition)}`;
}

function saidOf(order: Order, isWaiting: boolean): string {
  const soon = isWaiting ? 'Waiting.' : '`engine cluster status` shows how far it is.';
  switch (order.kind) {
    case 'move':
      return `Partition ${order.partition} goes to ${order.node} and stays there until \`engine cluster unpin ${order.partition}\`. ${soon}`;
    case 'unpin':
      return `Placement chooses the leader of partition ${order.partition} again.`;
    case 'drain':
      return `Everything is moved away from ${order.node}, until \`engine cluster undrain ${order.node}\`. ${soon}`;
    case 'undrain':
      return `${order.node} leads and follows again.`;
    case 'freeze':
      return 'Nothing moves, not even away from dead workers, until `engine cluster unfreeze`.';
    case 'unfreeze':
      return 'Placement moves partitions again.';
    default:
      return assertNever(order);
  }
}

/** Without a limit: whoever waits may stop. An admin that is away for a while is waited for, too. */
async function untilHappened(
  order: Order,
  client: AdminClient,
  { scheduler, print }: ClusterCommandDependencies,
): Promise<void> {
  for (let said = ''; ;) {
    const text = await missing(order, client);
    if (text !== said) print(text ?? 'Done.');
    if (text === undefined) return;
    said = text;
    await delay(scheduler, WAIT_INTERVAL_MS);
  }
}

async function missing(order: Order, client: AdminClient): Promise<string | undefined> {
  try {
    return missingOf(order, await client.cluster());
  } catch (error) {
    if (isEngineError(error) && error.code === 'unavailable') return error.message;
    throw error;
  }
}

/** What has not happened yet; undefined: all has. */
function missingOf(order: Order, cluster: ClusterAnswer): string | undefined {
  if (order.kind === 'drain') {
    const node = cluster.nodes.find(({ id }) => id === order.node);
    if (node === undefined || (node.leads === 0 && node.follows === 0)) return undefined;
    return `${order.node} still leads ${String(node.leads)} and follows ${String(node.follows)}.`;
  }
  if (order.kind !== 'move') return undefined;
  const partition = cluster.partitions.find(({ id }) => String(id) === order.partition);
  const own = partition?.replicas.find(({ node }) => node === order.node);
  if (partition?.leader === order.node && own?.phase === 'leader') return undefined;
  const has = own === undefined ? 'has not begun to fill' : `is ${own.phase}`;
  return `Led by ${partition?.leader ?? 'nobody'}; ${order.node} ${has}.`;
}
