import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Failure, PartitionAnswer, PartitionRequest } from '@engine/domain';
import {
  ask,
  echo,
  exchangeRaw,
  handler,
  startIngress,
  success,
  testSchema,
  type Answer,
  type Question,
  type TestIngress,
} from '../test-fixture.js';

const JSON_BODY = [['content-type', 'application/json']] as const;
const schema = testSchema([
  handler('text', {
    output: { contentType: 'text/plain', setContentTypeIfEmpty: false, jsonSchema: undefined },
  }),
  handler('always', {
    output: { contentType: 'text/plain', setContentTypeIfEmpty: true, jsonSchema: undefined },
  }),
  handler('untyped', {
    output: { contentType: undefined, setContentTypeIfEmpty: false, jsonSchema: undefined },
  }),
]);
let fixture: TestIngress;

beforeAll(async () => {
  fixture = await startIngress({}, { schema: () => schema });
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});
beforeEach(() => {
  fixture.partition.answer = echo;
  fixture.partition.requests.length = 0;
});

const send = (question: Question): Promise<Answer> => ask(fixture.port, question);
const post = (path: string, more: Partial<Question> = {}): Promise<Answer> =>
  send({ method: 'POST', path, headers: JSON_BODY, body: '"Ann"', ...more });
const refusal = (code: number, message: string): string =>
  JSON.stringify({ code, message, source: 'ingress' });

type InvokeRequest = Extract<PartitionRequest, { kind: 'invoke' }>;
function lastInvoke(): InvokeRequest {
  const { last } = fixture.partition;
  if (last?.kind !== 'invoke') throw new Error('no invocation was submitted');
  return last;
}

describe('a call', () => {
  it('answers with the result, the id under both names and the common headers', async () => {
    const answer = await post('/engine/call/Greeter/greet');
    const { invocation, awaits } = lastInvoke();
    expect(answer).toMatchObject({ status: 200, text: '"Ann"' });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': '5',
      'x-engine-id': invocation.id,
      'x-restate-id': invocation.id,
      vary: 'origin, access-control-request-method, access-control-request-headers',
      'access-control-allow-credentials': 'true',
    });
    expect(answer.headers['idempotency-expires']).toBeUndefined();
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    expect(invocation.id).toMatch(/^inv_1[0-9a-zA-Z]{33}$/);
    expect(invocation.target).toEqual({ kind: 'service', service: 'Greeter', handler: 'greet' });
    expect([awaits, invocation.executionTime]).toEqual(['result', undefined]);
  });

  it('passes on path and headers', async () => {
    await post('//restate/call/Greeter/greet/?x=1', { headers: [...JSON_BODY, ['x-one', 'uno']] });
    const { headers } = lastInvoke().invocation;
    expect(headers.slice(0, 2)).toEqual([
      { key: 'x-engine-ingress-path', value: '/restate/call/Greeter/greet?x=1' },
      { key: 'x-restate-ingress-path', value: '/restate/call/Greeter/greet?x=1' },
    ]);
    expect(headers).toContainEqual({ key: 'x-one', value: 'uno' });
    expect(headers.map(({ key }) => key)).not.toContain('host');
  });

  it('takes GET, with and without body', async () => {
    expect(await send({ path: '/Greeter/greet' })).toMatchObject({ status: 200, text: '' });
    const answer = await send({ path: '/Greeter/greet', headers: JSON_BODY, body: '"Bo"' });
    expect(answer.text).toBe('"Bo"');
  });

  it('takes a body without a length, and one in many pieces', async () => {
    expect((await post('/Greeter/greet', { isChunked: true })).text).toBe('"Ann"');
    const body = 'x'.repeat(3_000_000);
    expect((await post('/Greeter/greet', { body })).text).toHaveLength(body.length);
    expect((await post('/Greeter/greet', { body, isChunked: true })).text).toHaveLength(
      body.length,
    );
  });

  it('gives an empty result no content type', async () => {
    fixture.partition.answer = () => success('');
    const answer = await post('/Greeter/greet');
    expect(answer).toMatchObject({ status: 200, text: '', headers: { 'content-length': '0' } });
    expect(answer.headers['content-type']).toBeUndefined();
  });

  it.each([
    ['text', 'v', 'text/plain'],
    ['text', '', undefined],
    ['always', '', 'text/plain'],
    ['untyped', 'v', undefined],
  ])('gives the result of %s "%s" the content type %s', async (name, value, type) => {
    fixture.partition.answer = () => success(value);
    expect((await post(`/Greeter/${name}`)).headers['content-type']).toBe(type);
  });

  it.each([
    [Date.UTC(2026, 10, 21, 20, 9, 59, 768), '2026-11-21T20:09:59.768+00:00'],
    [Date.UTC(2026, 10, 21, 20, 27, 6), '2026-11-21T20:27:06+00:00'],
  ])('says when a stored result expires: %s', async (expiresAt, text) => {
    fixture.partition.answer = () => success('1', expiresAt);
    expect((await post('/Greeter/greet')).headers['idempotency-expires']).toBe(text);
  });
});

describe('identity', () => {
  const idOf = async (path: string, key?: string): Promise<string> => {
    await post(path, {
      headers: key === undefined ? JSON_BODY : [...JSON_BODY, ['Idempotency-Key', key]],
    });
    return lastInvoke().invocation.id;
  };

  it('follows from the idempotency key, the same on old and new paths', async () => {
    const id = await idOf('/engine/call/Counter/kk/add', 'v1');
    expect(id).toBe('inv_1cLjQsoOSa8w5BYes2EL5BK5xagloSktxR');
    expect(await idOf('/Counter/kk/add/send', 'v1')).toBe(id);
    expect(lastInvoke().invocation.idempotencyKey).toBe('v1');
    expect(await idOf('/Counter/kk/add', 'v2')).not.toBe(id);
  });

  it('takes the empty idempotency key for a key', async () => {
    expect(await idOf('/Greeter/greet', '')).toBe(await idOf('/Greeter/greet', ''));
    expect(lastInvoke().invocation.idempotencyKey).toBe('');
  });

  it('of a workflow run follows from its key', async () => {
    expect(await idOf('/Flow/w1/run')).toBe(await idOf('/Flow/w1/run/send'));
    expect(await idOf('/Flow/w1/stage')).not.toBe(await idOf('/Flow/w1/stage'));
  });

  it('is fresh otherwise, and on the partition of the object key', async () => {
    const [one, two] = [await idOf('/Counter/kk/add'), await idOf('/Counter/kk/add')];
    expect(one).not.toBe(two);
    expect(one.slice(0, 16)).toBe('inv_1cLjQsoOSa8w');
    expect(two.slice(0, 16)).toBe('inv_1cLjQsoOSa8w');
  });

  it('gives every request its own request id', async () => {
    await post('/Greeter/greet');
    await post('/Greeter/greet');
    const ids = fixture.partition.requests.map(({ requestId }) => requestId);
    expect(new Set(ids).size).toBe(2);
    expect(ids[0]?.split('-')[0]).toBe(ids[1]?.split('-')[0]);
  });

  it('decides the retention', async () => {
    const retention = async (path: string, key?: string): Promise<readonly number[]> => {
      await idOf(path, key);
      const { completionRetentionMs, journalRetentionMs } = lastInvoke().invocation;
      return [completionRetentionMs, journalRetentionMs].map((ms) => ms / 3_600_000);
    };
    expect(await retention('/Greeter/greet')).toEqual([24, 24]);
    expect(await retention('/Greeter/greet', 'k')).toEqual([12, 12]);
    expect(await retention('/Flow/w1/run')).toEqual([6, 6]);
  });
});

describe('a failed invocation', () => {
  const failure = (code: number, more: Partial<Failure> = {}): PartitionAnswer => ({
    kind: 'result',
    result: { kind: 'failure', failure: { code, message: 'as asked', metadata: [], ...more } },
    expiresAt: undefined,
    target: undefined,
  });

  it.each([
    ...[200, 301, 400, 418, 419, 470, 499, 503, 571, 599, 600, 999].map((code) => [code, code]),
    ...[0, 42, 100, 199, 1000, 65_535].map((code) => [code, 500]),
  ])('with code %i is answered with status %i', async (code, status) => {
    fixture.partition.answer = () => failure(code);
    const answer = await post('/Greeter/greet');
    expect(answer.status).toBe(status);
    expect(answer.text).toBe(JSON.stringify({ code, message: 'as asked', source: 'invocation' }));
    expect(answer.headers).toMatchObject({
      'x-engine-error-source': 'invocation',
      'x-restate-error-source': 'invocation',
      'x-engine-id': lastInvoke().invocation.id,
    });
  });

  it('with code 204 loses its body', async () => {
    fixture.partition.answer = () => failure(204);
    const answer = await post('/Greeter/greet');
    expect(answer).toMatchObject({ status: 204, text: '' });
    expect(answer.headers['content-length']).toBeUndefined();
  });

  it('shows metadata and stack trace in order', async () => {
    const metadata = [
      { key: 'a', value: '1' },
      { key: 'b', value: 'two' },
    ];
    fixture.partition.answer = () => failure(422, { metadata, stacktrace: 'at x' });
    expect((await post('/Greeter/greet')).text).toBe(
      '{"code":422,"message":"as asked","stacktrace":"at x","metadata":{"a":"1","b":"two"},"source":"invocation"}',
    );
  });
});

describe('a send', () => {
  it('answers 202 with the id', async () => {
    const answer = await post('/engine/send/Greeter/greet');
    const { invocation, awaits } = lastInvoke();
    expect(answer.status).toBe(202);
    expect(answer.text).toBe(`{"invocationId":"${invocation.id}","status":"Accepted"}`);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'x-engine-id': invocation.id,
      'x-restate-id': invocation.id,
    });
    expect(awaits).toBe('submission');
  });

  it('shows the planned time of a delay, also of none', async () => {
    for (const delay of ['1h', '0']) {
      const answer = await post(`/Greeter/greet/send?DELAY=${delay}&delay=bad`);
      const at = lastInvoke().invocation.executionTime ?? 0;
      const iso = new Date(at).toISOString();
      const shown = iso.endsWith('.000Z') ? iso.replace('.000Z', 'Z') : iso.replace('Z', '000000Z');
      expect(answer.text).toContain(`,"executionTime":"${shown}","status":"Accepted"}`);
    }
  });

  it('shows the time of the first request to a repeated one', async () => {
    const executionTime = Date.UTC(2026, 10, 20, 21, 9, 3);
    fixture.partition.answer = () => ({ kind: 'submitted', isNew: false, executionTime });
    const scheduled = await post('/Greeter/greet/send?delay=2h');
    expect(scheduled.text).toContain(
      '"executionTime":"2026-11-20T21:09:03Z","status":"PreviouslyAccepted"}',
    );
    fixture.partition.answer = () => ({
      kind: 'submitted',
      isNew: false,
      executionTime: undefined,
    });
    const started = await post('/Greeter/greet/send?delay=2h');
    expect(started.text).not.toContain('executionTime');
  });

  it.each(['', '0.5', '-1s', '1000', 'P1M', 'PT', 'abc', '%205h', '99999999d', '631107417599s'])(
    'refuses the delay "%s"',
    async (delay) => {
      const answer = await post(`/Greeter/greet/send?delay=${delay}`);
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.text)).toMatchObject({
        message: expect.stringMatching(/^bad delay query parameter/),
      });
    },
  );
});

describe('refusals, the first reason wins', () => {
  const put = { method: 'PUT' };
  const key = [['idempotency-key', 'k']] as const;
  const text = [['content-type', 'text/plain']] as const;
  const limit = (value: string): Partial<Question> => ({
    headers: [...JSON_BODY, ['x-engine-limit-key', value]],
  });
  it.each([
    ['/engine/call/Nobody/greet', put, 404, /^service 'Nobody' not found/],
    [
      '/engine/call/Greeter/nope',
      put,
      404,
      /^the service 'Greeter' exists, but the handler 'nope'/,
    ],
    ['/engine/call/Greeter/hidden', put, 400, /^the invoked service is not public$/],
    [
      '/Old/greet',
      put,
      400,
      /^\[RT0020\] the service Old is exposed by the deprecated deployment dp_old\./,
    ],
    ['/Flow/w/run', { ...put, headers: key }, 400, /^cannot use the idempotency key with workflow/],
    ['/engine/scope/a%20b/call/Greeter/greet', put, 400, /^bad scope value: value contains/],
    ['/engine/scope//call/Greeter/greet', put, 400, /^bad scope value: value cannot be empty$/],
    ['/engine/scope/s/call/Greeter/greet', put, 400, /^scoped invocations require vqueues/],
    ['/Greeter/greet', { ...put, headers: text }, 405, /^method not allowed$/],
    [
      '/Greeter/greet?delay=abc',
      { headers: text },
      400,
      /^input validation error: Content-type 'te/,
    ],
    ['/Greeter/greet/send?delay=abc', limit('/'), 400, /^bad delay/],
    ['/Greeter/greet', limit('a/b/c'), 400, /^invalid limit-key: too many path components/],
    ['/Greeter/greet?delay=1s', limit('a/b'), 400, /^limit-key requires a scope to be set$/],
    ['/Greeter/greet?limit-key=a%2Fb', {}, 400, /^limit-key requires a scope to be set$/],
    ['/Greeter/greet?delay=abc', {}, 400, /^bad delay/],
    ['/Greeter/greet?delay=1s', {}, 400, /^cannot use the delay query parameter with calls\. The/],
  ])('%s %o', async (path, more, status, message) => {
    const answer = await post(path, more);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text)).toEqual({
      code: status,
      message: expect.stringMatching(message),
      source: 'ingress',
    });
    expect(answer.headers).toMatchObject({
      'x-engine-error-source': 'ingress',
      'x-restate-error-source': 'ingress',
      'content-type': 'application/json',
    });
    expect(answer.headers['x-engine-id']).toBeUndefined();
    expect(fixture.partition.requests).toHaveLength(0);
  });

  it('names a header that is not visible ASCII', async () => {
    const ended = /\}$/;
    for (const name of ['idempotency-key', 'content-type', 'x-restate-limit-key', 'x-bad']) {
      const head = `GET /Greeter/greet HTTP/1.1\r\nhost: a\r\n${name}: caf\xe9\r\n\r\n`;
      expect(await exchangeRaw(fixture.port, head, ended)).toContain(`"bad header ${name}: `);
    }
  });

  it('says 405 in exactly these words', async () => {
    const answer = await send({ method: 'DELETE', path: '/Greeter/greet' });
    expect(answer.text).toBe('{"code":405,"message":"method not allowed","source":"ingress"}');
    expect(answer.headers['allow']).toBeUndefined();
    expect(await send({ method: 'HEAD', path: '/engine/health' })).toMatchObject({
      status: 405,
      text: '',
    });
  });
});

describe('a partition that does not take the request', () => {
  it('because it has too much to do: 429 and try again', async () => {
    fixture.partition.answer = () => ({ kind: 'unavailable', reason: 'overloaded' });
    const answer = await post('/Greeter/greet');
    expect(answer).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
    expect(answer.text).toBe(
      refusal(429, 'too many requests, the ingress is overloaded. Retry later.'),
    );
  });

  it('because it moves: sends again under the same request id until it is back', async () => {
    const { partition } = fixture;
    partition.answer = (request) =>
      partition.requests.length < 3 ? { kind: 'unavailable', reason: 'stopping' } : echo(request);
    expect((await post('/Greeter/greet')).text).toBe('"Ann"');
    expect(partition.requests).toHaveLength(3);
    expect(new Set(partition.requests.map(({ requestId }) => requestId)).size).toBe(1);
  });
});
