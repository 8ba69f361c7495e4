/** Invocations as introspection sees them: the stored row and what only the leader knows. */

import { isRetained, type Failure, type Invocation, type InvocationId } from '@engine/domain';
import type { Awaiting, InvocationSnapshot, LiveAttempt } from '@engine/wire';

import type { AttemptDriver } from '../invoker/attempt-driver.js';
import { awaitedText } from '../invoker/awaited.js';
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

/** How many journal entries of this invocation people may see. What a purge has closed may be stored for a while. */
export function shownJournalLength(partition: Partition, id: InvocationId, now: number): number {
  const invocation = partition.scan.invocation(id);
  const isVisible = invocation !== undefined && isShown(invocation, now);
  return isVisible ? invocation.journalLength : 0;
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
  const driver = invocation.status === 'invoked' ? partition.invoker.running(id) : undefined;
  return {
    id,
    invocation,
    live: liveAttempt(invocation, driver),
    failure: failureOf(partition, id, invocation),
    awaiting: awaitingOf(id, invocation, driver),
  };
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

function liveAttempt(row: Invocation, driver: AttemptDriver | undefined): LiveAttempt | undefined {
  if (row.status !== 'invoked') return undefined;
  const isInFlight = driver?.isInFlight === true;
  const failures = (row.retry?.failures ?? 0) + (row.retry?.setDelays ?? 0);
  return {
    isInFlight,
    retryCount: failures + (isInFlight ? 1 : 0),
    lastStartAt: row.lastAttemptAt,
    nextRetryAt: row.retry?.nextAttemptAt,
    deploymentId: driver?.deploymentId ?? row.pin?.deploymentId,
    server: driver?.watch.server,
    awaitingOn: isInFlight ? driver.watch.awaitingOn : undefined,
    lastHeardAt: isInFlight ? driver.watch.lastHeardAt : undefined,
  };
}

function waitBeforeStart(driver: AttemptDriver | undefined): string {
  if (driver === undefined) return 'a free slot';
  return driver.isWaitingForMemory ? 'memory for its payloads' : 'its start';
}

function awaitingOf(
  id: InvocationId,
  row: Invocation,
  driver: AttemptDriver | undefined,
): Awaiting | undefined {
  switch (row.status) {
    case 'scheduled':
      return { on: 'its start time', since: row.scheduledAt };
    case 'inboxed':
      return {
        on: `its turn at ${row.target.service}/${row.target.key ?? ''}`,
        since: row.inboxedAt,
      };
    case 'invoked':
      if (driver?.isInFlight === true) return driver.awaited();
      if (row.retry?.nextAttemptAt !== undefined) {
        return { on: 'its next attempt', since: row.modifiedAt };
      }
      return { on: waitBeforeStart(driver), since: row.modifiedAt };
    case 'suspended': {
      const { awaitingOn } = row;
      const on = awaitingOn === undefined ? 'its cancellation' : awaitedText(id, awaitingOn, []);
      return { on, since: row.modifiedAt };
    }
    case 'paused':
      return { on: 'somebody to resume it', since: row.modifiedAt };
    case 'completed':
      return undefined;
  }
}
