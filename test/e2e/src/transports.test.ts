/** What a handler can do, it can do wherever the real SDK hosts it: behind HTTP/2, behind HTTP/1.1, and as a Lambda function. */

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EngineProcess, waitUntil } from '@engine-test/support';

import { call, invocation, query, register, result, send } from './ask.js';
import { engineEnvironment, HOSTINGS, registration, startHosted } from './hosting.js';
import type { ServiceProcess } from './service-process.js';

const LIMIT_MS = 60_000;

describe.each(HOSTINGS)('a deployment behind %s', (hosting) => {
  let engine: EngineProcess;
  let services: ServiceProcess;

  beforeAll(async () => {
    services = await startHosted(hosting);
    engine = await EngineProcess.start({
      ...engineEnvironment(services),
      ENGINE_WORKER__INVOKER__INACTIVITY_TIMEOUT: '300ms',
      ENGINE_DEFAULT_RETRY_POLICY__INITIAL_INTERVAL: '20ms',
    });
    expect(await register(engine, registration(hosting, services))).toMatchObject({ status: 201 });
  }, LIMIT_MS);

  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
    await services[Symbol.asyncDispose]();
  });

  const until = async (id: string, status: string): Promise<void> => {
    const has = async (): Promise<boolean> => (await invocation(engine, id))?.status === status;
    await waitUntil(`${id} is ${status}`, has);
  };

  it('runs steps once each', async () => {
    expect(await call(engine, 'Every/run', 'steps')).toBe(42);
    expect(services.count('steps/first')).toBe(1);
    expect(services.count('steps/second')).toBe(1);
  });

  it('sleeps, suspended, and goes on', async () => {
    const began = Date.now();
    const id = await send(engine, 'Every/sleep', { name: 'nap', ms: 1_500 });
    await until(id, 'suspended');
    expect(await result(engine, id)).toBe('slept');
    expect(Date.now() - began).toBeGreaterThanOrEqual(1_450);
    expect(services.count('nap/after')).toBe(1);
  });

  it('calls a service and an object', async () => {
    expect(await call(engine, 'Every/call', 'pair')).toBe('42 and 7');
    expect(services.count('pair/first')).toBe(1);
  });

  it('sends, at once and with a delay', async () => {
    const sentAt = Number(await call(engine, 'Every/send', 'notes'));
    const [now, later] = await Promise.all([
      services.restOf('notes/now@'),
      services.restOf('notes/later@'),
    ]);
    expect(Number(later) - sentAt).toBeGreaterThanOrEqual(390);
    expect(Number(now)).toBeLessThan(Number(later));
  });

  it('keeps the state of objects', async () => {
    const key = 'a key%2Fwith ünïcode';
    expect(await call(engine, `Tally/${key}/add`, 3)).toBe(3);
    expect(await call(engine, `Tally/${key}/add`, 4)).toBe(7);
    expect(await call(engine, `Tally/${key}/clear`, {})).toEqual(['total']);
    expect(await call(engine, `Tally/${key}/add`, 1)).toBe(1);
  });

  it('waits for an awakeable', async () => {
    const id = await send(engine, 'Every/awake', 'wake');
    const awakeable = await services.restOf('wake/id/');
    await until(id, 'suspended');
    await resolveAwakeable(engine, awakeable, 'word');
    expect(await result(engine, id)).toBe('got word');
  });

  it('catches its cancellation and cleans up', async () => {
    const id = await send(engine, 'Every/cancelled', 'cancel');
    await services.until('cancel/waits');
    const response = await fetch(`${engine.adminUrl}/invocations/${id}/cancel`, {
      method: 'PATCH',
    });
    expect(response.status).toBe(202);
    expect(await result(engine, id)).toBe('cancelled, undone');
  });

  it('is tried again until it ends well, without what is done already', async () => {
    const id = await send(engine, 'Every/flaky', 'flaky');
    await waitUntil('a failure shows', async () => {
      const [row] = await query<{ last_failure?: string }>(
        engine,
        `SELECT last_failure FROM sys_invocation WHERE id = '${id}'`,
      );
      return row?.last_failure?.includes('not at attempt') === true;
    });
    expect(await result(engine, id)).toBe(6);
    expect(services.count('flaky/once')).toBe(1);
  });

  it('fails for good when it says so', async () => {
    await expect(call(engine, 'Every/refuse', {})).rejects.toThrow('refused');
  });

  it('takes and gives a megabyte', async () => {
    const content = 'ö'.repeat(250_000);
    expect(await call(engine, 'Every/large', content)).toBe(content + content);
  });

  it('goes on after a kill of the engine, from its journal', async () => {
    const waiting = await send(engine, 'Every/awake', 'replay');
    const running = await send(engine, 'Every/open', 'open');
    const awakeable = await services.restOf('replay/id/');
    await services.until('open/second');
    await engine.crash();
    await engine.restart();
    await services.until('open/second', 2);
    services.open('open');
    await resolveAwakeable(engine, awakeable, 'again');
    expect(await result(engine, waiting)).toBe('got again');
    expect(await result(engine, running)).toBe('through');
    expect(services.count('replay/prepare')).toBe(1);
    expect(services.count('open/first')).toBe(1);
  });
});

async function resolveAwakeable(engine: EngineProcess, id: string, word: string): Promise<void> {
  const response = await fetch(`${engine.ingressUrl}/engine/awakeables/${id}/resolve`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(word),
  });
  if (!response.ok) throw new Error(`${id} is refused: ${await response.text()}`);
}
