/**
 * What handlers, services and the server say about retries, timeouts, retentions and state, and what the public SDK makes of
 * it. Times are short; nothing is proved by waiting for it not to happen.
 */

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EngineProcess, waitUntil } from '@engine-test/support';

import { call, query, result, send } from './ask.js';
import { run } from './frames.js';
import { HostileDeployment, type Answer } from './hostile-deployment.js';
import { FINE, says } from './misbehaviour.js';
import { ServiceProcess } from './service-process.js';

const HOUR = 3_600_000;

let engine: EngineProcess;
let services: ServiceProcess;
const disposables: AsyncDisposable[] = [];

beforeAll(async () => {
  [engine, services] = await Promise.all([
    EngineProcess.start({
      ENGINE_DEFAULT_RETRY_POLICY__INITIAL_INTERVAL: '1ms',
      ENGINE_DEFAULT_RETRY_POLICY__EXPONENTIATION_FACTOR: '1',
      ENGINE_DEFAULT_RETRY_POLICY__MAX_ATTEMPTS: 'unlimited',
      ENGINE_MAX_RETRY_POLICY_MAX_ATTEMPTS: '6',
      ENGINE_MAX_JOURNAL_RETENTION: '12h',
      ENGINE_MAX_IDEMPOTENCY_RETENTION: '7 days',
      ENGINE_MAX_WORKFLOW_COMPLETION_RETENTION: 'P1W',
    }),
    ServiceProcess.start('policy-services.ts'),
  ]);
  await engine.register(services.uri);
}, 60_000);

afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await services[Symbol.asyncDispose]();
  for (const each of disposables) await each[Symbol.asyncDispose]();
});

interface Row {
  readonly status: string;
  readonly retry_count?: number;
  readonly last_start_at?: string;
  readonly next_retry_at?: string;
  readonly last_failure?: string;
  readonly last_failure_error_code?: string;
  readonly last_failure_related_command_index?: number;
  readonly last_failure_related_command_name?: string;
  readonly last_failure_related_command_type?: string;
  readonly last_attempt_deployment_id?: string;
  readonly completion_failure?: string;
  readonly completion_retention?: string;
  readonly journal_retention?: string;
}

async function rowOf(id: string, at = engine): Promise<Row | undefined> {
  const [row] = await query<Row>(at, `SELECT * FROM sys_invocation WHERE id = '${id}'`);
  return row;
}

/** The row of an invocation, once it has this status. */
function becomes(id: string, status: string, at = engine): Promise<Row> {
  return waitUntil(`${id} is ${status}`, async () => {
    const row = await rowOf(id, at);
    return row?.status === status ? row : undefined;
  });
}

/** Ms from the last start until the next attempt. */
function waitOf({ last_start_at, next_retry_at }: Row): number {
  return Date.parse(next_retry_at ?? '') - Date.parse(last_start_at ?? '');
}

async function shown(path: string, at = engine): Promise<Record<string, unknown>> {
  return (await (await fetch(`${at.adminUrl}${path}`)).json()) as Record<string, unknown>;
}

async function callWithKey(path: string, key: string): Promise<unknown> {
  const headers = { 'idempotency-key': key };
  const response = await fetch(`${engine.ingressUrl}/engine/call/${path}`, {
    method: 'POST',
    headers,
  });
  return response.json();
}

async function sendWithKey(path: string, key: string): Promise<string> {
  const headers = { 'idempotency-key': key };
  const response = await fetch(`${engine.ingressUrl}/engine/send/${path}`, {
    method: 'POST',
    headers,
  });
  return ((await response.json()) as { invocationId: string }).invocationId;
}

describe('retries', () => {
  it.each([
    ['as the service says', 'Retries/inherits: 2 × inherits, completed'],
    ['as the handler says, the rest as the service', 'Retries/longer: 4 × longer, completed'],
    ['not at all', 'Retries/once: 1 × once, completed'],
    ['until they pause, as the handler says', 'Retries/pauses: 2 × pauses, paused'],
    ['as often as the server allows', 'Retries/capped: 6 × capped, completed'],
    ['as the server says, up to its maximum', 'Plain/fail: 6 × plain/fail, paused'],
  ])('%s', async (_what, story) => {
    const [, path = '', attempts, name = '', status = ''] =
      /^(.+): (\d+) × (.+), (.+)$/.exec(story) ?? [];
    const row = await becomes(await send(engine, path), status);
    expect(services.count(name)).toBe(Number(attempts));
    if (status === 'completed') expect(row.completion_failure).toContain('boom');
    else expect(row).toMatchObject({ last_failure_error_code: 'RT0007' });
  });

  it('wait longer and longer, up to the largest interval', async () => {
    await becomes(await send(engine, 'Retries/grows'), 'completed');
    const at = services.all('grows@').map(Number);
    const waits = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    expect(waits.map((wait, index) => wait >= ([100, 200, 250][index] ?? 0))).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('start again from the first after progress', async () => {
    expect(await result(engine, await send(engine, 'Retries/progresses'))).toBe('done');
    expect(services.count('trouble before')).toBe(5);
    expect(services.count('trouble behind')).toBe(3);
    expect(services.count('step')).toBe(1);
  });

  it('are shown as they were asked for, not as they are capped', async () => {
    expect(await shown('/services/Retries/handlers/capped')).toMatchObject({
      retry_policy: { max_attempts: 1_000 },
    });
    expect(await shown('/services/Plain')).toMatchObject({
      retry_policy: { initial_interval: '1ms', max_attempts: null, on_max_attempts: 'Pause' },
    });
  });

  it('follow the deployment that the attempt goes to', async () => {
    const fails: Answer = (attempt) => {
      attempt.refuse(500);
    };
    const failsPinned: Answer = (attempt) => {
      attempt.say(run(1)).close();
    };
    const answers = { fails, failsPinned };
    const waits = { retryPolicyInitialInterval: HOUR, retryPolicyMaxInterval: HOUR };
    await hostile('Moves', answers, waits);
    const [free, pinned] = await Promise.all([
      send(engine, 'Moves/fails'),
      send(engine, 'Moves/failsPinned'),
    ]);
    expectWait(await becomes(free, 'backing-off'), HOUR);
    expectWait(await becomes(pinned, 'backing-off'), HOUR);
    await hostile('Moves', answers, {
      retryPolicyOnMaxAttempts: 'KILL',
      retryPolicyMaxAttempts: 1,
    });
    await Promise.all([resume(free), resume(pinned)]);
    expect((await becomes(free, 'completed')).completion_failure).toContain('500');
    expectWait(await becomes(pinned, 'backing-off'), HOUR);
  });
});

describe('why and when next', () => {
  it('of a handler that throws', async () => {
    const row = await becomes(await send(engine, 'Retries/slow'), 'backing-off');
    expect(row).toMatchObject({ retry_count: 1, last_failure_error_code: 'RT0007' });
    expect(row.last_failure).toMatch(/^\[500 Internal\] boom\n.*at /s);
    expect(row.last_failure_related_command_type).toBeUndefined();
    expectWait(row, 10 * 60_000);
  });

  it('of a step that throws: which one', async () => {
    const row = await becomes(await send(engine, 'Retries/step'), 'backing-off');
    expect(row).toMatchObject({
      last_failure: expect.stringContaining('declined') as unknown,
      last_failure_related_command_index: 2,
      last_failure_related_command_name: 'charge',
      last_failure_related_command_type: 'Command: Run',
    });
    expectWait(row, HOUR);
  });

  it('of a paused one: why, and no next', async () => {
    const row = await becomes(await send(engine, 'Retries/pauses'), 'paused');
    expect(row.last_failure).toMatch(/^\[500 Internal\] boom/);
    expect(row).toMatchObject({ last_failure_error_code: 'RT0007' });
    expect(row.next_retry_at).toBeUndefined();
  });

  it('of a deployment that answers wrongly, ends early or is gone', async () => {
    const deployment = await hostile('Wrong', {
      status: (attempt) => {
        attempt.refuse(500);
      },
      ends: (attempt) => {
        attempt.accept().close();
      },
      away: says(...FINE),
    });
    const codeOf = async (handler: string): Promise<string | undefined> => {
      const row = await becomes(await send(engine, `Wrong/${handler}`), 'backing-off');
      expectWait(row, HOUR);
      expect(row).toMatchObject({
        retry_count: 1,
        last_failure: expect.stringMatching(/^\[500 Internal\] ./) as unknown,
      });
      return row.last_failure_error_code;
    };
    expect(await codeOf('status')).toBe('RT0012');
    expect(await codeOf('ends')).toBe('RT0007');
    await deployment[Symbol.asyncDispose]();
    expect(await codeOf('away')).toBe('RT0010');
  });

  it('is forgotten when it ends well', async () => {
    const id = await send(engine, 'Retries/progresses');
    await result(engine, id);
    const row = await rowOf(id);
    expect([row?.last_failure, row?.last_failure_error_code, row?.next_retry_at]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('a deployment that asks for a slower pace (RT0023)', () => {
  const inAnHour = (): string => new Date(Date.now() + 2 * HOUR).toUTCString();
  const refuses =
    (status: number, retryAfter?: () => string): Answer =>
    (attempt) => {
      attempt.refuse(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter() });
    };

  it.each([
    ['says nothing', refuses(429), HOUR],
    ['says seconds', refuses(429, () => '600'), 600_000],
    ['says a date', refuses(503, inAnHour), 2 * HOUR - 1_000],
    ['says a date that is over', refuses(503, () => 'Fri, 01 Jan 2021 00:00:00 GMT'), HOUR],
    ['says rubbish', refuses(503, () => 'soon'), HOUR],
    ['says never', refuses(503, () => '9'.repeat(30)), 365 * 24 * HOUR],
  ])('and %s', async (what, answer, waitMs) => {
    const service = `Pace${what.replaceAll(' ', '')}`;
    await hostile(service, { go: answer });
    const row = await becomes(await send(engine, `${service}/go`), 'backing-off');
    expect(row).toMatchObject({ retry_count: 1, last_failure_error_code: 'RT0023' });
    expectWait(row, waitMs);
  });

  it('may do so more often than the policy allows attempts, and 0 means at once', async () => {
    let left = 5;
    const go: Answer = (attempt) => {
      left -= 1;
      if (left >= 0) attempt.refuse(429, { 'retry-after': '0' });
      else says(...FINE)(attempt);
    };
    await hostile('Paced', { go }, { retryPolicyMaxAttempts: 2, retryPolicyOnMaxAttempts: 'KILL' });
    expect(await result(engine, await send(engine, 'Paced/go'))).toBe('fine');
  });

  it('so may a handler that sets the wait itself', async () => {
    expect(await result(engine, await send(engine, 'Retries/sets'))).toBe('done');
    expect(services.count('trouble sets')).toBe(5);
  });
});

describe('timeouts', () => {
  it.each([
    ['as the service says', 'inherits'],
    ['at once, as the handler says', 'never'],
  ])('suspend %s', async (_what, handler) => {
    const id = await send(engine, `Times/${handler}`, 60_000);
    await becomes(id, 'suspended');
  });

  it('leave a handler alone that says so', async () => {
    const patient = await send(engine, 'Times/patient', 1_000);
    await becomes(await send(engine, 'Times/inherits', 60_000), 'suspended');
    expect(await rowOf(patient)).toMatchObject({ status: 'running' });
    expect(await result(engine, patient)).toBe('slept');
  });

  it('follow a change of the service', async () => {
    await patch('Plain', { inactivity_timeout: '0s' });
    await becomes(await send(engine, 'Plain/nap', 60_000), 'suspended');
  });

  it('cut off who does not suspend (RT0001)', async () => {
    const row = await becomes(await send(engine, 'Times/hangs'), 'backing-off');
    expect(row).toMatchObject({ last_failure_error_code: 'RT0001' });
    expectWait(row, HOUR);
    expect(services.count('hangs')).toBe(1);
  });

  it('of a deployment in request-response mode: the first is none (RT0021)', async () => {
    const protocolMode = 'REQUEST_RESPONSE';
    const halfClosed = Promise.withResolvers<undefined>();
    const go: Answer = (attempt) => {
      attempt.stream.once('end', halfClosed.resolve);
    };
    await hostile('Answers', { go }, { protocolMode, inactivityTimeout: HOUR, abortTimeout: 200 });
    const id = await send(engine, 'Answers/go');
    await halfClosed.promise;
    expect(await becomes(id, 'backing-off')).toMatchObject({ last_failure_error_code: 'RT0001' });
    expect(await shown('/services/Answers')).toMatchObject({
      inactivity_timeout: '0s',
      abort_timeout: '200ms',
      info: [{ code: 'RT0021', message: expect.stringContaining('1h') as unknown }],
    });
  });
});

describe('retentions', () => {
  /** Retentions of result and journal, in seconds. */
  const kept = async (id: string): Promise<readonly number[]> => {
    const row = await becomes(id, 'completed');
    const seconds = (text = ''): number => Number(/^PT(.+)S$/.exec(text)?.[1]);
    return [seconds(row.completion_retention), seconds(row.journal_retention)];
  };
  const isGone = (id: string): Promise<true> =>
    waitUntil(`${id} is gone`, async () => (await rowOf(id)) === undefined || undefined);

  it('are the service’s, and a key caps the journal', async () => {
    const [tenMinutes, twentyMinutes] = [600, 1_200];
    expect(await kept(await send(engine, 'Keeps/inherits', 'a'))).toEqual([tenMinutes, tenMinutes]);
    expect(await kept(await sendWithKey('Keeps/result', 'caps'))).toEqual([2, 2]);
    const id = await sendWithKey('Keeps/inherits', 'k');
    expect(await kept(id)).toEqual([twentyMinutes, tenMinutes]);
  });

  it('are the server’s, as far as its maximum', async () => {
    expect(await kept(await send(engine, 'Plain/greet', 'Ada'))).toEqual([12 * 3_600, 12 * 3_600]);
    expect(await kept(await send(engine, 'Keeps/tooLong'))).toEqual([12 * 3_600, 12 * 3_600]);
    expect(await kept(await sendWithKey('Keeps/tooLong', 'k'))).toEqual([7 * 86_400, 12 * 3_600]);
    const note = (setting: string, granted: string): object => ({
      code: 'RT0022',
      message: `${setting} 30days is more than this server allows: ${granted} is used`,
    });
    expect(await shown('/services/Keeps/handlers/tooLong')).toMatchObject({
      idempotency_retention: '7days',
      journal_retention: '12h',
      info: [note('idempotency_retention', '7days'), note('journal_retention', '12h')],
    });
  });

  it('are capped when they are read, after a change too', async () => {
    expect(await patch('Plain', { journal_retention: '1 day' })).toMatchObject({
      journal_retention: '12h',
      info: [{ code: 'RT0022' }],
    });
    const { info } = await patch('Plain', { journal_retention: 'PT2H' });
    expect(info).toBeUndefined();
    expect(await kept(await send(engine, 'Plain/greet', 'Ada'))).toEqual([7_200, 7_200]);
  });

  it('of 0 keep nothing, not even for a key', async () => {
    expect(await callWithKey('Keeps/nothing', 'k')).toBe('gone');
    expect(await callWithKey('Keeps/nothing', 'k')).toBe('gone');
    expect(services.count('nothing')).toBe(2);
    await isGone(await send(engine, 'Keeps/nothing'));
  });

  it('end: of a journal and what it belongs to', async () => {
    const id = await send(engine, 'Keeps/briefly');
    await becomes(id, 'completed');
    expect(await query(engine, `SELECT * FROM sys_journal WHERE id = '${id}'`)).not.toEqual([]);
    await isGone(id);
    expect(await query(engine, `SELECT * FROM sys_journal WHERE id = '${id}'`)).toEqual([]);
  });

  it('end: of a result, and the request is new again', async () => {
    const before = services.count('result');
    const id = await sendWithKey('Keeps/result', 'again');
    await becomes(id, 'completed');
    expect(await callWithKey('Keeps/result', 'again')).toBe('result');
    expect(services.count('result')).toBe(before + 1);
    await isGone(id);
    expect(await callWithKey('Keeps/result', 'again')).toBe('result');
    expect(services.count('result')).toBe(before + 2);
  });

  it('end: of a workflow, with its state', async () => {
    const id = await send(engine, 'Brief/w/run');
    expect(await kept(id)).toEqual([2, 2]);
    expect(await call(engine, 'Brief/w/stage', undefined)).toBe('done');
    await isGone(id);
    expect(await result(engine, await send(engine, 'Brief/w/run'))).toBe('ran');
    expect(services.count('run')).toBe(2);
  });
});

describe('state', () => {
  const reads = async (handler: string, at = engine): Promise<unknown[]> => {
    const id = await send(at, `Lazy/k/${handler}`);
    expect(await result(at, id)).toBe('Ada');
    const sql = `SELECT entry_type FROM sys_journal WHERE id = '${id}' ORDER BY index`;
    const entries = await query<{ entry_type: string }>(at, sql);
    return entries.map(({ entry_type }) => entry_type).filter((type) => type.includes('Get'));
  };

  it('comes when it is asked for, or before: as the handler, else the service says', async () => {
    await becomes(await send(engine, 'Lazy/k/put', 'Ada'), 'completed');
    expect(await reads('inherits')).toContain('Command: GetLazyState');
    expect(await reads('eager')).toEqual(['Command: GetEagerState']);
    expect(await shown('/services/Lazy')).toMatchObject({ enable_lazy_state: true });
    expect(await shown('/services/Lazy/handlers/eager')).toMatchObject({
      enable_lazy_state: false,
    });
  });

  it('of a server that gives nothing ahead, and asks for little patience', async () => {
    await using strict = await EngineProcess.start({
      ENGINE_WORKER__INVOKER__EAGER_STATE_SIZE_LIMIT: '0',
      ENGINE_WORKER__INVOKER__INACTIVITY_TIMEOUT: '0s',
      ENGINE_DEFAULT_RETRY_POLICY__MAX_ATTEMPTS: '1',
      ENGINE_DEFAULT_RETRY_POLICY__ON_MAX_ATTEMPTS: 'kill',
    });
    await strict.register(services.uri);
    await becomes(await send(strict, 'Plain/nap', 60_000), 'suspended', strict);
    await becomes(await send(strict, 'Lazy/k/put', 'Ada'), 'completed', strict);
    expect(await reads('eager', strict)).toContain('Command: GetLazyState');
    const failed = services.count('plain/fail');
    await expect(call(strict, 'Plain/fail', undefined)).rejects.toThrow('boom');
    expect(services.count('plain/fail')).toBe(failed + 1);
  });
});

/** The wait is what was asked for, and up to 30 % more; timestamps have ms. */
function expectWait(row: Row, askedMs: number): void {
  expect(waitOf(row)).toBeGreaterThanOrEqual(askedMs - 1);
  expect(waitOf(row)).toBeLessThan(askedMs * 1.3 + 10_000);
}

/** A deployment with one service; the settings are members of the service in its manifest. */
async function hostile(
  service: string,
  answers: Readonly<Record<string, Answer>>,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<HostileDeployment> {
  const { protocolMode = 'BIDI_STREAM', ...rest } = settings;
  const options = { service, settings: rest, protocolMode: String(protocolMode) };
  const deployment = await HostileDeployment.start(options, answers);
  disposables.push(deployment);
  await engine.register(deployment.uri);
  return deployment;
}

/** Starts the next attempt now. */
async function resume(id: string): Promise<void> {
  const response = await fetch(`${engine.adminUrl}/invocations/${id}/resume`, { method: 'PATCH' });
  if (!response.ok) throw new Error(`${id} does not go on: ${await response.text()}`);
}

async function patch(service: string, body: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${engine.adminUrl}/services/${service}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${service} is not changed: ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}
