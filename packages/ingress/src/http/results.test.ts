import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { PartitionAnswer } from '@engine/domain';
import {
  ask,
  echo,
  startIngress,
  success,
  type Answer,
  type TestIngress,
} from '../test-fixture.js';

const ID = 'inv_126gymxHhc5q4YJr3L8oWAw7oUjdHHIsNv';
const AWAKEABLE = 'sign_1NcA0Paus8HDgVqYx1Zhgcy2Rogth2NCJAAAAEQ';
const AWAITING = 'inv_19Hb11MifBhr4c3oghWDHoXOZpLp5Nthm0';
let fixture: TestIngress;

beforeAll(async () => {
  fixture = await startIngress();
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});
beforeEach(() => {
  fixture.partition.answer = echo;
  fixture.partition.requests.length = 0;
});

const get = (path: string): Promise<Answer> => ask(fixture.port, { path });
const post = (path: string, body: string | Uint8Array | object = ''): Promise<Answer> => {
  const bytes =
    typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  return ask(fixture.port, { method: 'POST', path, body: bytes });
};
const messageOf = (answer: Answer): string =>
  (JSON.parse(answer.text) as { message: string }).message;

describe('attach and output', () => {
  it.each(['attach', 'output'])('%s shows a stored result', async (verb) => {
    fixture.partition.answer = () => success('"hi"', Date.UTC(2026, 0, 1));
    for (const path of [`/engine/${verb}/${ID}`, `/restate/invocation/${ID}/${verb}`]) {
      const answer = await get(path);
      expect(answer).toMatchObject({ status: 200, text: '"hi"' });
      expect(answer.headers).toMatchObject({
        'content-type': 'application/json',
        'idempotency-expires': '2026-01-01T00:00:00+00:00',
        'x-engine-id': ID,
        'x-restate-id': ID,
      });
    }
    expect(fixture.partition.last).toMatchObject({
      kind: 'attach',
      invocationId: ID,
      blocking: verb === 'attach',
    });
  });

  it('differ on what is unknown', async () => {
    const attach = await get(`/engine/attach/${ID}`);
    expect(attach).toMatchObject({
      status: 404,
      text: '{"code":404,"message":"not found","source":"invocation"}',
    });
    expect(attach.headers['x-engine-id']).toBe(ID);
    const output = await get(`/engine/output/${ID}`);
    expect(output).toMatchObject({
      status: 404,
      text: '{"code":404,"message":"invocation not found","source":"ingress"}',
    });
    expect(output.headers['x-engine-id']).toBeUndefined();
  });

  it('say 470 while there is no result', async () => {
    fixture.partition.answer = () => ({ kind: 'not-ready' });
    const answer = await get(`/engine/output/${ID}`);
    expect(answer.status).toBe(470);
    expect(messageOf(answer)).toBe('the invocation exists but has not completed yet');
    expect(answer.headers['x-engine-error-source']).toBe('ingress');
  });

  it('hide a success whose handler is no longer registered, not a failure', async () => {
    const target = { service: 'Gone', handler: 'x' };
    fixture.partition.answer = () => ({ ...success('1'), target }) as PartitionAnswer;
    expect(await get(`/engine/attach/${ID}`)).toMatchObject({
      status: 404,
      text: '{"code":404,"message":"not found","source":"ingress"}',
    });
    fixture.partition.answer = () => ({
      kind: 'result',
      result: { kind: 'failure', failure: { code: 418, message: 'm', metadata: [] } },
      expiresAt: undefined,
      target,
    });
    expect((await get(`/engine/attach/${ID}`)).status).toBe(418);
  });

  it.each([
    [{ target: 'invocation', invocationId: ID }, ID],
    [
      { target: 'workflow', workflowName: 'Wf', workflowKey: 'w1', scope: 's1' },
      'inv_1a1mlWikgvPI3YwPc54r6trJkQiTFOpfSM',
    ],
    [
      {
        ...{ target: 'idempotentInvocation', service: 'Greeter', handler: 'count' },
        ...{ idempotencyKey: 'a1', key: null, scope: null, more: 1 },
      },
      'inv_1kQjM5pwo2915dagbrNb7Q6CTFiYMYnpyP',
    ],
  ])('and lookup understand %o', async (body, id) => {
    expect((await post('/engine/lookup', body)).text).toBe(`{"invocationId":"${id}"}`);
    await post('/engine/attach', body);
    expect(fixture.partition.last).toMatchObject({ kind: 'attach', invocationId: id });
  });

  it.each([
    ['{bad', 500, /^cannot read body: invalid (request|lookup) body: /],
    ['', 500, /^cannot read body/],
    ['[]', 500, /^cannot read body/],
    [{ target: 'nothing' }, 500, /^cannot read body/],
    [{ target: 'workflow', workflowName: 'Wf' }, 500, /^cannot read body/],
    [{ target: 'invocation', invocationId: 'foo' }, 400, /^bad invocation id 'foo': bad format$/],
    [
      { target: 'workflow', workflowName: 'Wf', workflowKey: 'w', scope: 'a b' },
      400,
      /^bad scope value: /,
    ],
  ])('refuse %o', async (body, status, message) => {
    for (const path of ['/engine/attach', '/engine/output', '/engine/lookup']) {
      const answer = await post(path, body);
      expect(answer.status).toBe(status);
      expect(messageOf(answer)).toMatch(message);
    }
  });

  it('take the old paths by workflow and by idempotency key', async () => {
    await get('/restate/workflow/Wf/w1/attach');
    expect(fixture.partition.last).toMatchObject({
      invocationId: 'inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8',
    });
    await get('/restate/invocation/Counter/kk/add/v1/output');
    expect(fixture.partition.last).toMatchObject({
      invocationId: 'inv_1cLjQsoOSa8w5BYes2EL5BK5xagloSktxR',
    });
  });

  it.each([
    ['GET', '/engine/attach'],
    ['GET', '/engine/lookup'],
    ['POST', `/engine/attach/${ID}`],
    ['POST', '/engine/health'],
    ['GET', '/engine/awakeables/foo/resolve'],
  ])('answer 405 to %s %s', async (method, path) => {
    expect((await ask(fixture.port, { method, path })).status).toBe(405);
  });
});

describe('awakeables', () => {
  it('are resolved with the bytes of the body', async () => {
    const answer = await post(`/engine/awakeables/${AWAKEABLE}/resolve`, Buffer.from([0, 255]));
    expect(answer).toMatchObject({ status: 202, text: '', headers: { 'content-length': '0' } });
    expect(answer.headers['content-type']).toBeUndefined();
    expect(fixture.partition.last).toMatchObject({
      kind: 'signal',
      invocationId: AWAITING,
      id: { kind: 'signal', index: 17 },
      result: { kind: 'value', value: Buffer.from([0, 255]) },
    });
  });

  it('are rejected with the text of the body', async () => {
    await post(`/restate/a/${AWAKEABLE}/reject`, Buffer.from([0x61, 0xff, 0x62]));
    expect(fixture.partition.last).toMatchObject({
      result: { kind: 'failure', failure: { code: 500, message: 'a\ufffdb', metadata: [] } },
    });
  });

  it('never say not found', async () => {
    fixture.partition.answer = () => ({ kind: 'operation', outcome: 'not-found' });
    expect((await post(`/engine/a/${AWAKEABLE}/resolve`)).status).toBe(202);
  });

  it.each([
    ['foo', 'bad format'],
    [ID, "id doesn't match the expected type"],
  ])('refuse the id %s', async (id, reason) => {
    const answer = await post(`/engine/awakeables/${id}/resolve`, '1');
    expect(answer.status).toBe(400);
    expect(messageOf(answer)).toBe(`bad awakeable id '${id}': ${reason}`);
  });
});
