/** How a node that leaves learns that it may go. */

import type { NodeId } from '@engine/domain';
import {
  decodeLease,
  LEASE_PREFIX,
  NODE_LEASE_PREFIX,
  nodeLease,
  type MetadataStore,
} from '@engine/metadata';
import { delay, type Clock, type Scheduler } from '@engine/runtime';

import type { ClusterView } from './cluster-view.js';
import { readFailed } from './events.js';

const LOOK_INTERVAL_MS = 200;

/** Whether others are there is asked of the store only at every fifth look. */
const LOOKS_PER_READING = 5;

/** `handed-over`: it leads nothing. `alone`: nobody is there to hand over to. `limit`: it still leads. */
export type LeaveOutcome = 'handed-over' | 'alone' | 'limit';

export interface DepartureDependencies {
  readonly id: NodeId;
  readonly store: MetadataStore;
  readonly view: ClusterView;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly hasLetGo: () => boolean;
  /** Says in the node document that this node is about to end. Rejects when it could not be written. */
  readonly announce: () => Promise<unknown>;
}

/** Resolves when the node may go, or after `limitMs`. */
export async function untilMayGo(
  limitMs: number,
  dependencies: DepartureDependencies,
): Promise<LeaveOutcome> {
  const { clock, scheduler, announce } = dependencies;
  const end = clock.monotonic() + limitMs;
  let isAnnounced = false;
  for (let looks = 0; ; looks += 1) {
    isAnnounced ||= await announce().then(
      () => true,
      () => false,
    );
    if (isAnnounced && hasHandedOver(dependencies)) return 'handed-over';
    const isReading = isAnnounced && looks % LOOKS_PER_READING === 0;
    if (isReading && (await isAlone(dependencies))) return 'alone';
    if (clock.monotonic() >= end) return 'limit';
    await delay(scheduler, LOOK_INTERVAL_MS);
  }
}

/** False when `hasLetGo` does not become true within `limitMs`. */
export async function untilLetGo(
  limitMs: number,
  { clock, scheduler, hasLetGo }: Pick<DepartureDependencies, 'clock' | 'scheduler' | 'hasLetGo'>,
): Promise<boolean> {
  const end = clock.monotonic() + limitMs;
  while (!hasLetGo()) {
    if (clock.monotonic() >= end) return false;
    await delay(scheduler, LOOK_INTERVAL_MS);
  }
  return true;
}

function hasHandedOver({ id, view, hasLetGo }: DepartureDependencies): boolean {
  const isNamed = view.table?.partitions.some(({ leader }) => leader === id) === true;
  return !isNamed && hasLetGo();
}

/** True when no other worker could take over: none is there but such as leave or are dead. */
async function isAlone({ id, view, store }: DepartureDependencies): Promise<boolean> {
  try {
    await view.refresh();
    const leases = await store.list(LEASE_PREFIX + NODE_LEASE_PREFIX);
    const living = new Set(
      leases.filter(({ value }) => !decodeLease(value).isGone).map(({ name }) => name),
    );
    return !view.nodes.some(
      (node) =>
        node.id !== id &&
        node.roles.includes('worker') &&
        !node.isLeaving &&
        living.has(LEASE_PREFIX + nodeLease(node.id)),
    );
  } catch (error) {
    readFailed(error);
    return false;
  }
}
