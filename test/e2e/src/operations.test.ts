/** Operations on many invocations: begun by one request, readable and abortable, and finished whatever happens to the server. */

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EngineProcess, waitUntil } from '@engine-test/support';

import { query, send } from './ask.js';
import { ServiceProcess } from './service-process.js';

const CROWD = 1_000;
/** Requests of this test that are on their way at once. */
const SENDS_AT_ONCE = 50;

interface Batch {
  readonly id: string;
  readonly status: 'running' | 'completed' | 'aborted' | 'failed';
  readonly progress: Readonly<
    Record<'scanned' | 'matched' | 'succeeded' | 'failed' | 'skipped', number>
  >;
  readonly failures: readonly unknown[];
}

let engine: EngineProcess;
let services: ServiceProcess;

beforeAll(async () => {
  [engine, services] = await Promise.all([
    EngineProcess.start(),
    ServiceProcess.start('operation-services.ts'),
  ]);
  await engine.register(services.uri);
}, 60_000);

afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await services[Symbol.asyncDispose]();
});

/** Sends so many and gives their ids. */
async function crowd(handler: string, count = CROWD): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const sends = Array.from({ length: SENDS_AT_ONCE }, () => send(engine, `Sleeper/${handler}`));
    ids.push(...(await Promise.all(sends)));
  }
  return ids;
}

async function ask(method: string, path: string, body?: object): Promise<Batch> {
  const response = await fetch(engine.adminUrl + path, {
    method,
    ...(body === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
  return (await response.json()) as Batch;
}

const begin = (operation: string, filter: object): Promise<Batch> =>
  ask('POST', '/batch-operations', { operation, filter });
const read = ({ id }: Batch): Promise<Batch> => ask('GET', `/batch-operations/${id}`);

/** Reads without a pause until the batch operation is so far. */
async function progressed(batch: Batch, succeeded: number): Promise<Batch> {
  for (;;) {
    const now = await read(batch);
    if (now.progress.succeeded >= succeeded || now.status !== 'running') return now;
  }
}

function ended(batch: Batch): Promise<Batch> {
  return waitUntil('the batch operation ends', async () => {
    const now = await read(batch);
    return now.status === 'running' ? undefined : now;
  });
}

async function countBy(status: string): Promise<number> {
  const sql = `SELECT count(*) AS n FROM sys_invocation WHERE target = 'Sleeper/nap' AND status = '${status}'`;
  const [row] = await query<{ n: number }>(engine, sql);
  return row?.n ?? 0;
}

/** How many there are altogether, and how many of them did not get exactly one cancellation. */
async function cancellations(): Promise<{ readonly all: number; readonly notOnce: number }> {
  const signals = `SELECT id, count(*) AS n FROM sys_journal WHERE entry_type = 'Notification: Signal' GROUP BY id`;
  const [row] = await query<{ all: number; not_once: number }>(
    engine,
    `SELECT count(*) AS "all", count(*) FILTER (WHERE s.n > 1) AS not_once FROM (${signals}) s`,
  );
  return { all: row?.all ?? 0, notOnce: row?.not_once ?? 0 };
}

const NAPS = { service: 'Sleeper', handler: 'nap' };

describe('an operation on a thousand invocations', () => {
  it('cancels them, and its progress can be read', async () => {
    await crowd('nap');
    const begun = await begin('cancel', NAPS);
    const seen: number[] = [];
    let now = begun;
    while (now.status === 'running') {
      now = await read(begun);
      seen.push(now.progress.succeeded);
    }
    expect(now).toMatchObject({
      status: 'completed',
      progress: { matched: CROWD, succeeded: CROWD, failed: 0, skipped: 0 },
      failures: [],
    });
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(new Set(seen).size).toBeGreaterThan(2);
    await waitUntil('all have ended', async () => (await countBy('completed')) === CROWD);
    expect(services.count('cleaned')).toBe(CROWD);
    const purged = await ended(await begin('purge', NAPS));
    expect(purged.progress.succeeded).toBe(CROWD);
    expect(await countBy('completed')).toBe(0);
  }, 120_000);

  it('pauses them, is aborted in the middle, and resumes what it paused', async () => {
    await crowd('nap');
    const begun = await begin('pause', NAPS);
    await progressed(begun, 100);
    await ask('PATCH', `/batch-operations/${begun.id}/abort`);
    const { status, progress } = await ended(begun);
    expect(status).toBe('aborted');
    expect(progress.succeeded).toBeGreaterThanOrEqual(100);
    expect(progress.succeeded).toBeLessThan(CROWD);
    expect(await countBy('paused')).toBe(progress.succeeded);
    const resumed = await ended(await begin('resume', { ...NAPS, status: 'paused' }));
    expect(resumed.progress).toMatchObject({ matched: progress.succeeded, failed: 0 });
    expect(await countBy('paused')).toBe(0);
    await ended(await begin('kill', NAPS));
    await ended(await begin('purge', NAPS));
  }, 120_000);

  it('goes on after a kill -9 of the server, and ends each invocation exactly once', async () => {
    const before = services.count('cleaned');
    await crowd('nap');
    const begun = await begin('cancel', NAPS);
    const atCrash = await progressed(begun, 200);
    await engine.crash();
    expect(atCrash.status).toBe('running');
    await engine.restart();
    const { status, progress } = await ended(begun);
    expect(status).toBe('completed');
    expect(progress).toMatchObject({ matched: CROWD, succeeded: CROWD, failed: 0, skipped: 0 });
    await waitUntil('all have ended', async () => (await countBy('completed')) === CROWD, 60_000);
    expect(await cancellations()).toEqual({ all: CROWD, notOnce: 0 });
    // A run may run again when the server dies before it hears of its end; a second clean-up would be another run.
    expect(services.count('cleaned') - before).toBeGreaterThanOrEqual(CROWD);
    await ended(await begin('purge', NAPS));
  }, 180_000);

  it('restarts them as new, each once, also over a kill -9', async () => {
    await crowd('count', 500);
    const done = (source: string): Promise<number> =>
      query<{ n: number }>(
        engine,
        `SELECT count(*) AS n FROM sys_invocation WHERE target = 'Sleeper/count' AND status = 'completed' AND invoked_by = '${source}'`,
      ).then(([row]) => row?.n ?? 0);
    await waitUntil('all have ended', async () => (await done('ingress')) === 500);
    const begun = await begin('restart-as-new', { service: 'Sleeper', handler: 'count' });
    await progressed(begun, 100);
    await engine.crash();
    await engine.restart();
    expect((await ended(begun)).progress).toMatchObject({ matched: 500, succeeded: 500 });
    await waitUntil('all have ended again', async () => (await done('restart_as_new')) === 500);
    const [row] = await query<{ n: number }>(
      engine,
      `SELECT count(DISTINCT restarted_from) AS n FROM sys_invocation WHERE restarted_from IS NOT NULL`,
    );
    expect(row?.n).toBe(500);
  }, 180_000);
});
