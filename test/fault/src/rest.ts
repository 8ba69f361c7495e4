/** After the load: wait until nothing runs any more, name what still does, and read what every book holds. */

import { waitUntil } from '@engine-test/support';

import type { History } from './history/history.js';
import { readHistory } from './history/history.js';
import { request } from './load/ingress-client.js';
import type { System } from './systems/system.js';

/** Longer than the longest sleep or delay of the load, and than the longest pause between two attempts. */
const REST_MS_MAX = 120_000;
const LEFTOVERS_SHOWN_MAX = 50;

interface Row {
  readonly id: string;
  readonly target: string;
  readonly status: string;
  readonly last_failure?: string;
}

export async function bringToRest(system: System, history: History): Promise<void> {
  let open: readonly Row[] = [];
  try {
    await waitUntil(
      'nothing runs any more',
      async () => {
        open = await openInvocations(system);
        return open.length === 0;
      },
      REST_MS_MAX,
    );
  } catch {
    for (const { id, target, status, last_failure } of open.slice(0, LEFTOVERS_SHOWN_MAX)) {
      const what = `${target} is ${status} ${last_failure ?? ''}`;
      history.record({ kind: 'leftover', invocation: id, what });
    }
  }
  history.record({ kind: 'quiet' });
  for (const book of await booksOf(history)) await readFinal(system, history, book);
}

async function openInvocations(system: System): Promise<readonly Row[]> {
  const response = await fetch(`${system.adminUrl}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({
      query: `SELECT id, target, status, last_failure FROM sys_invocation WHERE status <> 'completed'`,
    }),
  }).catch(() => undefined);
  if (response?.ok !== true) return [{ id: '?', target: 'the query', status: 'unanswered' }];
  return ((await response.json()) as { rows: Row[] }).rows;
}

/** Every book that the load may have touched, as the history so far says. */
async function booksOf(history: History): Promise<ReadonlySet<string>> {
  await history.flush();
  const books = new Set<string>();
  for await (const entry of readHistory(history.path)) {
    if (entry.kind === 'booked' || entry.kind === 'entered') books.add(entry.book);
  }
  return books;
}

async function readFinal(system: System, history: History, book: string): Promise<void> {
  const url = `${system.ingressUrls[0] ?? ''}/engine/call/${book}/read`;
  const reply = await request(url, {});
  if (reply.kind !== 'reply' || reply.status !== 200) return;
  const { count, total } = JSON.parse(reply.text) as { count: number; total: number };
  history.record({ kind: 'final', book, count, total });
}
