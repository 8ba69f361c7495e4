import type { InvocationSnapshot } from './invocation-scan.js';

/** What people see as the status of an invocation. */
export const SHOWN_STATUSES = [
  'scheduled',
  'pending',
  'ready',
  'running',
  'backing-off',
  'suspended',
  'paused',
  'completed',
] as const;

export type ShownStatus = (typeof SHOWN_STATUSES)[number];

/** What is stored, refined by what the invoker does. */
export function shownStatus({ invocation, live }: InvocationSnapshot): ShownStatus {
  switch (invocation.status) {
    case 'inboxed':
      return 'pending';
    case 'invoked':
      if (live?.isInFlight === true) return 'running';
      return invocation.retry === undefined ? 'ready' : 'backing-off';
    case 'scheduled':
    case 'suspended':
    case 'paused':
    case 'completed':
      return invocation.status;
  }
}
