/** Invocations as introspection sees them: the stored row and what only the leader knows. */

import type { Invocation, InvocationId } from '@engine/domain';
import type { InvocationSnapshot, LiveAttempt } from '@engine/wire';

import type { Partition } from './partition.js';

/** Invocations that one read of the store brings. */
const PAGE_LENGTH = 256;

/** Committed invocations of one partition behind `after`, in the order of the store. */
export async function* snapshots(
  partition: Partition,
  after: InvocationId | undefined,
): AsyncGenerator<InvocationSnapshot> {
  let last = after;
  for (;;) {
    const page = await partition.scan.invocations(last, PAGE_LENGTH);
    for (const { id, invocation } of page) yield snapshot(partition, id, invocation);
    last = page.at(-1)?.id;
    if (page.length < PAGE_LENGTH) return;
  }
}

export function snapshot(
  partition: Partition,
  id: InvocationId,
  invocation: Invocation,
): InvocationSnapshot {
  return { id, invocation, live: liveAttempt(partition, id, invocation) };
}

function liveAttempt(
  partition: Partition,
  id: InvocationId,
  row: Invocation,
): LiveAttempt | undefined {
  if (row.status !== 'invoked') return undefined;
  const driver = partition.invoker.running(id);
  const isInFlight = driver?.isInFlight === true;
  const failures = Math.max(row.retry?.failures ?? 0, row.retry?.failuresSinceLastCommand ?? 0);
  return {
    isInFlight,
    retryCount: failures + (isInFlight ? 1 : 0),
    lastStartAt: row.lastAttemptAt,
    nextRetryAt: row.retry?.nextAttemptAt,
    deploymentId: driver?.deploymentId ?? row.pin?.deploymentId,
    server: driver?.server,
  };
}
