/** The SDK's own typed ingress client, unmodified, sees no difference. */

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EngineProcess } from '@engine-test/support';
import * as clients from '@restatedev/restate-sdk-clients';

import { ServiceProcess } from './service-process.js';
import type { Order, Story, Tally } from './services.js';

let engine: EngineProcess;
let services: ServiceProcess;
let ingress: clients.Ingress;

beforeAll(async () => {
  [engine, services] = await Promise.all([EngineProcess.start(), ServiceProcess.start()]);
  await engine.register(services.uri);
  ingress = clients.connect({ url: engine.ingressUrl });
}, 60_000);

afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await services[Symbol.asyncDispose]();
});

describe('the typed client', () => {
  it('calls a service and an object', async () => {
    const client = ingress.serviceClient<Story>({ name: 'Story' });
    expect(await client.greet('Ada')).toBe('Hello Ada');
    const tally = ingress.objectClient<Tally>({ name: 'Tally' }, 'a key/with ünïcode');
    expect(await tally.add(3)).toBe(3);
    expect(await tally.add(4)).toBe(7);
  });

  it('sends, with a delay too, and gets the result later', async () => {
    const client = ingress.serviceSendClient<Story>({ name: 'Story' });
    // The client reads a result later only of a request with a key.
    const key = (idempotencyKey: string) => clients.rpc.sendOpts<string>({ idempotencyKey });
    const now = await client.greet('Bob', key('now'));
    expect(now.status).toBe('Accepted');
    expect(await ingress.result(now)).toBe('Hello Bob');
    const delayed = clients.rpc.sendOpts<string>({
      idempotencyKey: 'later',
      delay: { milliseconds: 200 },
    });
    const later = await client.greet('Eve', delayed);
    expect(await ingress.result(later)).toBe('Hello Eve');
  });

  it('repeats with an idempotency key get the first result', async () => {
    const tally = ingress.objectClient<Tally>({ name: 'Tally' }, 'idempotent');
    const options = clients.rpc.opts<number, number>({ idempotencyKey: 'one' });
    expect(await tally.add(1, options)).toBe(1);
    expect(await tally.add(1, options)).toBe(1);
    expect(await tally.add(1)).toBe(2);
  });

  it('submits a workflow, talks to it, attaches, and reads its output', async () => {
    const order = ingress.workflowClient<Order>({ name: 'Order' }, 'o-1');
    const submission = await order.workflowSubmit('book');
    expect(submission.status).toBe('Accepted');
    expect((await order.workflowOutput()).ready).toBe(false);
    await order.pay('9 EUR');
    expect(await order.workflowAttach()).toBe('book for 9 EUR');
    expect((await order.workflowSubmit('book')).status).toBe('PreviouslyAccepted');
  });

  it('resolves an awakeable', async () => {
    const key = clients.rpc.sendOpts<string>({ idempotencyKey: 'dream' });
    const sent = await ingress.serviceSendClient<Story>({ name: 'Story' }).awake('dreamer', key);
    const id = await services.restOf('dreamer/');
    await ingress.resolveAwakeable(id, 'good morning');
    expect(await ingress.result(sent)).toBe('good morning');
  });

  it('sees terminal errors with their code', async () => {
    const client = ingress.serviceClient<Story>({ name: 'Story' });
    await expect(client.fail()).rejects.toMatchObject({ status: 418 });
  });
});
