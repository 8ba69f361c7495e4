/** The promise made first: a handler survives a `kill -9` of the server and resumes exactly where it was. */

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EngineProcess, waitUntil } from '@engine-test/support';

import { ServiceProcess } from './service-process.js';

let engine: EngineProcess;
let services: ServiceProcess;

beforeAll(async () => {
  [engine, services] = await Promise.all([EngineProcess.start(), ServiceProcess.start()]);
  await engine.register(services.uri);
}, 60_000);

afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await services[Symbol.asyncDispose]();
});

async function send(handler: string, input: unknown): Promise<string> {
  const response = await fetch(`${engine.ingressUrl}/engine/send/Story/${handler}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(input),
  });
  expect(response.status).toBe(202);
  const { invocationId } = (await response.json()) as { invocationId: string };
  return invocationId;
}

function result(id: string): Promise<unknown> {
  return waitUntil('the result is there', async () => {
    const response = await fetch(`${engine.ingressUrl}/engine/output/${id}`);
    return response.status === 200 ? response.json() : undefined;
  });
}

describe('a kill -9 of the server', () => {
  it('in a sleep: only the remaining time is slept', async () => {
    const began = Date.now();
    const id = await send('sleep', { name: 'nap', ms: 2500 });
    await services.until('nap/before');
    await engine.crash();
    await engine.restart();
    expect(await result(id)).toBe('slept');
    const took = Date.now() - began;
    expect(took).toBeGreaterThanOrEqual(2450);
    expect(services.count('nap/after')).toBe(1);
  }, 60_000);

  it('in a run: the open run runs again, the finished one does not', async () => {
    const id = await send('run', 'job');
    await services.until('job/second');
    await engine.crash();
    await engine.restart();
    await services.until('job/second', 2);
    services.open('job');
    expect(await result(id)).toBe('ran');
    expect(services.count('job/first')).toBe(1);
  }, 60_000);

  it('in a wait for a call: caller and callee finish, the answer arrives once', async () => {
    const id = await send('call', 'pair');
    await services.until('pair/second');
    await engine.crash();
    await engine.restart();
    services.open('pair');
    expect(await result(id)).toBe('callee ran');
    expect(services.count('pair/first')).toBe(1);
    expect(services.count('pair/answered')).toBe(1);
  }, 60_000);

  it('after the end: results and state are still there', async () => {
    const add = async (): Promise<unknown> => {
      const response = await fetch(`${engine.ingressUrl}/engine/call/Tally/kept/add`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'once' },
        body: '5',
      });
      return response.json();
    };
    expect(await add()).toBe(5);
    await engine.crash();
    await engine.restart();
    expect(await add()).toBe(5);
    const total = await fetch(`${engine.ingressUrl}/engine/call/Tally/kept/add`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '2',
    });
    expect(await total.json()).toBe(7);
  }, 60_000);
});
