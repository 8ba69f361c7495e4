/** Invocations as introspection sees them: the stored row and what only the leader knows. */

import { isRetained, type Failure, type Invocation, type InvocationId } from '@engine/domain';
import type { InvocationSnapshot, LiveAttempt } from '@engine/wire';

import type { Partition } from './partition.js';

/** Invocations that one read of the store brings. */
const PAGE_LENGTH = 256;

/** Committed invocations of one partition behind `after`, in the order of the store. `now`: ms since the epoch. */
export async function* snapshots(
  partition: Partition,
  after: InvocationId | undefined,
  now: number,
): AsyncGenerator<InvocationSnapshot> {
  let last = after;
  for (;;) {
    const page = await partition.scan.invocations(last, PAGE_LENGTH);
    for (const { id, invocation } of page) {
      if (isShown(invocation, now)) yield snapshot(partition, id, invocation);
    }
    last = page.at(-1)?.id;
    if (page.length < PAGE_LENGTH) return;
  }
}

/** One committed invocation. */
export function snapshotOf(
  partition: Partition,
  id: InvocationId,
  now: number,
): InvocationSnapshot | undefined {
  const invocation = partition.scan.invocation(id);
  if (invocation === undefined || !isShown(invocation, now)) return undefined;
  return snapshot(partition, id, invocation);
}

/** True while people may see this invocation and its journal. */
export function isInvocationShown(partition: Partition, id: InvocationId, now: number): boolean {
  const invocation = partition.scan.invocation(id);
  return invocation !== undefined && isShown(invocation, now);
}

/** What ended stays for its own request for a while; for everybody else it is gone when its retention is over. */
function isShown(invocation: Invocation, now: number): boolean {
  return invocation.status !== 'completed' || isRetained(invocation, now);
}

function snapshot(
  partition: Partition,
  id: InvocationId,
  invocation: Invocation,
): InvocationSnapshot {
  const live = liveAttempt(partition, id, invocation);
  return { id, invocation, live, failure: failureOf(partition, id, invocation) };
}

function failureOf(
  partition: Partition,
  id: InvocationId,
  { result }: Invocation,
): Failure | undefined {
  if (result?.kind !== 'output') return result?.failure;
  if (result.succeeded) return undefined;
  const entry = partition.state.journalEntry(id, result.index);
  return entry?.kind === 'output' && entry.result.kind === 'failure'
    ? entry.result.failure
    : undefined;
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
    awaitingOn: isInFlight ? driver.awaitingOn : undefined,
  };
}
