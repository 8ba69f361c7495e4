import { afterEach, describe, expect, it } from '@jest/globals';
import {
  ask,
  askHttp2,
  echo,
  exchangeRaw,
  hangUpAfter,
  startIngress,
  type Answer,
  type TestIngress,
} from '../test-fixture.js';
import type { IngressConfig } from '../config-shape.js';
import type { IngressDependencies } from '../context.js';

const JSON_BODY = [['content-type', 'application/json']] as const;
const GREET = '/engine/call/Greeter/greet';
const ORIGIN = 'http://ui.example';
const started: TestIngress[] = [];

async function start(
  config?: Partial<IngressConfig>,
  dependencies?: Partial<IngressDependencies>,
): Promise<TestIngress> {
  const fixture = await startIngress(config, dependencies);
  started.push(fixture);
  return fixture;
}

afterEach(async () => {
  for (const fixture of started.splice(0)) await fixture[Symbol.asyncDispose]();
});

/** Resolves when `count` requests have reached the partition. */
async function requestsReach({ partition }: TestIngress, count: number): Promise<void> {
  while (partition.requests.length < count) await new Promise((resolve) => setImmediate(resolve));
}

/** Resolves when every response has been closed. */
async function isIdle({ ingress }: TestIngress): Promise<void> {
  while (ingress.openCount > 0) await new Promise((resolve) => setImmediate(resolve));
}

describe('HTTP/2 with prior knowledge', () => {
  it('serves calls, cold routes and errors on the same port', async () => {
    const { port } = await start();
    const body = 'x'.repeat(200_000);
    const call = await askHttp2(port, { method: 'POST', path: GREET, headers: JSON_BODY, body });
    expect(call).toMatchObject({ status: 200, text: body });
    expect(call.headers['x-restate-id']).toMatch(/^inv_1/);
    expect((await askHttp2(port, { path: GREET })).text).toBe('');
    expect(await askHttp2(port, { path: '/engine/health' })).toMatchObject({
      status: 200,
      text: '{"services":["Counter","Flow","Greeter","Old"]}',
    });
    const bad = await askHttp2(port, { path: '/Nobody/greet', headers: [['origin', ORIGIN]] });
    expect(bad).toMatchObject({
      status: 404,
      headers: { 'access-control-allow-origin': ORIGIN, 'x-engine-error-source': 'ingress' },
    });
  });

  it('takes raw UTF-8 in the path and does not mirror what is no header', async () => {
    const { port, partition } = await start();
    const answer = await askHttp2(port, { path: '/Counter/caf\u00e9/get' });
    expect(answer.status).toBe(200);
    expect(partition.last).toMatchObject({ invocation: { target: { key: 'caf\u00e9' } } });
    const odd = await askHttp2(port, { path: '/engine/health', headers: [['origin', '\u00e9']] });
    expect(odd.status).toBe(200);
    expect(odd.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('reads the body of cold routes', async () => {
    const { port } = await start();
    const body = JSON.stringify({ target: 'workflow', workflowName: 'Wf', workflowKey: 'w1' });
    const answer = await askHttp2(port, { method: 'POST', path: '/engine/lookup', body });
    expect(answer.text).toBe('{"invocationId":"inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8"}');
  });

  it('shows a status that HTTP/2 cannot carry as 500', async () => {
    const { port, partition } = await start();
    partition.answer = () => ({
      kind: 'result',
      result: { kind: 'failure', failure: { code: 700, message: 'm', metadata: [] } },
      expiresAt: undefined,
      target: undefined,
    });
    const answer = await askHttp2(port, { path: GREET });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      500,
      { code: 700, message: 'm', source: 'invocation' },
    ]);
  });
});

describe('HTTP/1', () => {
  const ended = /\r\n\r\n.*$/s;

  it.each([
    ['GET /Greeter/greet HTTP/1.0\r\n\r\n', '200 OK'],
    ['GET http://elsewhere.example/engine/health HTTP/1.1\r\nhost: a\r\n\r\n', '200 OK'],
    [
      'GET /Greeter/greet HTTP/1.1\r\nconnection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AA\r\n\r\n',
      '200 OK',
    ],
    ['GET /engine/call/Counter/caf\xc3\xa9/get HTTP/1.1\r\n\r\n', '200 OK'],
    ['GET * HTTP/1.1\r\n\r\n', '400 Bad Request'],
    ['CONNECT x:1 HTTP/1.1\r\n\r\n', '400 Bad Request'],
    ['GARBAGE\r\n\r\n', '400 Bad Request\r\ncontent-length: 0\r\n'],
    [`GET /${'k'.repeat(70_000)} HTTP/1.1\r\n\r\n`, '414 URI Too Long'],
    [`GET / HTTP/1.1\r\n${'x: 1\r\n'.repeat(101)}\r\n`, '431 Request Header Fields Too Large'],
    [`GET /Greeter/greet HTTP/1.1\r\nx: ${'x'.repeat(500_000)}\r\n\r\n`, '200 OK'],
  ])('%.60s', async (request, status) => {
    const { port } = await start();
    expect(await exchangeRaw(port, request, ended)).toMatch(new RegExp(`^HTTP/1\\.1 ${status}`));
  });

  it('answers pipelined requests in order, a raw UTF-8 key among them', async () => {
    const { port, partition } = await start();
    const requests =
      'POST /Greeter/greet HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: 1\r\n\r\n1' +
      'POST /Greeter/greet HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: 1\r\n\r\n2';
    const text = await exchangeRaw(port, requests, /1HTTP.*\r\n\r\n2$/s);
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    await exchangeRaw(port, 'GET /Counter/caf\xc3\xa9/get HTTP/1.1\r\n\r\n', ended);
    expect(partition.last).toMatchObject({ invocation: { target: { key: 'café' } } });
  });

  it('is what a request line speaks that claims another version', async () => {
    const { port } = await start();
    const id = 'inv_1cUZqQKbZFRY445IdJcjCuDQNB6xmSuT9k';
    const request = `GET /engine/attach/${id} HTTP/2.0\r\ncontent-length: 0\r\n\r\n`;
    const text = await exchangeRaw(port, request, /"source":"\w+"\}$/);
    expect(text).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
    expect(text).toContain(`x-restate-id: ${id}`);
  });

  it('names unknown status codes <none>', async () => {
    const { port, partition } = await start();
    partition.answer = () => ({ kind: 'not-ready' });
    const text = await exchangeRaw(
      port,
      'GET /engine/output/inv_126gymxHhc5q4YJr3L8oWAw7oUjdHHIsNv HTTP/1.1\r\n\r\n',
      ended,
    );
    expect(text).toMatch(/^HTTP\/1\.1 470 <none>\r\n/);
  });

  it('drops the answer to a client that has gone away', async () => {
    const fixture = await start();
    fixture.partition.answer = () => undefined;
    const gone = exchangeRaw(fixture.port, 'GET /Greeter/greet HTTP/1.1\r\n\r\n', ended);
    await requestsReach(fixture, 1);
    await fixture.ingress[Symbol.asyncDispose]();
    await gone;
    fixture.partition.unanswered[0]?.({ kind: 'not-found' });
    await isIdle(fixture);
  });

  it('tells the partition that nobody waits for the result any more; a send goes on', async () => {
    const fixture = await start();
    const { partition } = fixture;
    partition.answer = () => undefined;
    const call = exchangeRaw(fixture.port, 'GET /Greeter/greet HTTP/1.1\r\n\r\n', ended);
    const send = exchangeRaw(fixture.port, 'GET /Greeter/greet/send HTTP/1.1\r\n\r\n', ended);
    await requestsReach(fixture, 2);
    await fixture.ingress[Symbol.asyncDispose]();
    await Promise.all([call, send]);
    await isIdle(fixture);
    const awaited = partition.withdrawn.map(
      (request) => request.kind === 'invoke' && request.awaits,
    );
    expect(awaited).toEqual(['result']);
  });
});

describe('a client that hangs up', () => {
  it.each([
    ['before it says anything', ''],
    ['within the preface', 'PRI * HTT'],
    ['within a request', 'GET /engine/hea'],
    ['after a request', 'GET /engine/health HTTP/1.1\r\n\r\n'],
    ['after the preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['on HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0'],
  ])('%s: its connection is closed', async (_when, text) => {
    const { port } = await start();
    await hangUpAfter(port, text);
  });
});

describe('a tunnel', () => {
  it('is refused, and the requests before it on its connection do not count as open for ever', async () => {
    const fixture = await start();
    fixture.partition.answer = () => undefined;
    const call = 'GET /Greeter/greet HTTP/1.1\r\n\r\n';
    await hangUpAfter(fixture.port, `${call.repeat(3)}CONNECT x:1 HTTP/1.1\r\n\r\n`);
    await isIdle(fixture);
  });

  it('is refused also when its client goes on talking', async () => {
    const fixture = await start();
    fixture.partition.answer = () => undefined;
    const call = 'GET /Greeter/greet HTTP/1.1\r\n\r\n';
    const talk = 'x'.repeat(500_000);
    await hangUpAfter(fixture.port, `${call}CONNECT x:1 HTTP/1.1\r\n\r\n${talk}`);
    await isIdle(fixture);
  });
});

describe('CORS', () => {
  it('answers a preflight on any path', async () => {
    const { port } = await start({ concurrentRequestsMax: 0 });
    const headers = [
      ['origin', ORIGIN],
      ['access-control-request-method', 'POST'],
      ['access-control-request-headers', 'content-type,x-mine'],
    ] as const;
    for (const question of [ask, askHttp2]) {
      const answer = await question(port, { method: 'OPTIONS', path: '/no/such/path', headers });
      expect(answer).toMatchObject({ status: 200, text: '' });
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': ORIGIN,
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'content-type,x-mine',
        'access-control-allow-credentials': 'true',
      });
    }
  });
});

describe('limits', () => {
  const isTooLarge = (answer: Answer): void => {
    expect(answer).toMatchObject({ status: 413, text: 'length limit exceeded' });
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(answer.headers['vary']).toBeUndefined();
  };

  it('refuse a body that is announced too large, on any path', async () => {
    const { port } = await start({ requestBytesMax: 10 });
    const question = { method: 'POST', headers: JSON_BODY, body: 'x'.repeat(11) };
    for (const path of [GREET, '/foo']) {
      isTooLarge(await ask(port, { ...question, path }));
    }
    const announced = [...JSON_BODY, ['content-length', '11']] as const;
    isTooLarge(await askHttp2(port, { ...question, headers: announced, path: GREET }));
    expect((await ask(port, { ...question, body: 'x'.repeat(10), path: GREET })).status).toBe(200);
  });

  it('refuse a body that turns out too large', async () => {
    const { port } = await start({ requestBytesMax: 10 });
    const question = { method: 'POST', headers: JSON_BODY, body: 'x'.repeat(11) };
    for (const path of [GREET, '/engine/lookup', '/engine/a/foo/resolve']) {
      for (const answer of [
        await ask(port, { ...question, path, isChunked: true }),
        await askHttp2(port, { ...question, path }),
      ]) {
        expect(answer.text).toBe(
          '{"code":413,"message":"cannot read body: LengthLimitError","source":"ingress"}',
        );
        expect(answer.status).toBe(413);
      }
    }
  });

  it('refuse large bodies while those of others take all the room, small ones never', async () => {
    const fixture = await start({ bodiesInFlightBytesMax: 200_000 });
    const { port, partition } = fixture;
    partition.answer = () => undefined;
    const headers = [['content-type', 'application/json']] as const;
    const large = { method: 'POST', path: GREET, headers, body: new Uint8Array(150_000) };
    const first = ask(port, large);
    await requestsReach(fixture, 1);
    for (const answer of [
      await ask(port, large),
      await ask(port, { ...large, isChunked: true }),
      await askHttp2(port, large),
    ]) {
      expect(answer).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
    }
    const small = ask(port, { ...large, body: new Uint8Array(60_000) });
    await requestsReach(fixture, 2);
    const nothing = { kind: 'success', value: new Uint8Array() } as const;
    for (const respond of partition.unanswered) {
      respond({ kind: 'result', result: nothing, expiresAt: undefined, target: undefined });
    }
    expect([(await first).status, (await small).status]).toEqual([200, 200]);
    partition.answer = echo;
    // A body that is alone has room whatever its size.
    const alone = { ...large, body: new Uint8Array(500_000) };
    expect((await ask(port, alone)).text).toHaveLength(500_000);
    expect((await ask(port, { ...alone, isChunked: true })).text).toHaveLength(500_000);
  });

  it('refuse requests above the concurrency limit until others have ended', async () => {
    const fixture = await start({ concurrentRequestsMax: 1 });
    const { port, partition } = fixture;
    partition.answer = () => undefined;
    const first = ask(port, { path: GREET });
    await requestsReach(fixture, 1);
    for (const path of ['/engine/health', GREET, '/foo']) {
      const second = await ask(port, { path });
      expect(second.status).toBe(429);
      expect(second.headers['retry-after']).toBeUndefined();
    }
    partition.unanswered[0]?.({
      kind: 'result',
      result: { kind: 'success', value: new Uint8Array() },
      expiresAt: undefined,
      target: undefined,
    });
    expect((await first).status).toBe(200);
    await isIdle(fixture);
    expect((await ask(port, { path: '/engine/health' })).status).toBe(200);
  });
});

describe('health', () => {
  it('says 503 while the process cannot take work', async () => {
    let isReady = false;
    const { port } = await start({}, { isReady: () => isReady });
    expect((await ask(port, { path: '/restate/health' })).status).toBe(503);
    isReady = true;
    expect(await ask(port, { path: '/restate/health' })).toMatchObject({
      status: 200,
      headers: { 'content-type': 'application/json' },
    });
  });
});

describe('stopping', () => {
  it('ends idle connections at once', async () => {
    const { ingress, port } = await start({ stopGraceMs: 60_000 });
    const idle = exchangeRaw(port, 'GET /engine/health HTTP/1.1\r\n\r\n', /never/);
    const silent = exchangeRaw(port, '', /never/);
    await ask(port, { path: '/engine/health' });
    await ingress[Symbol.asyncDispose]();
    expect(await idle).toContain('200 OK');
    expect(await silent).toBe('');
  });

  it('lets open requests finish and ends their connections', async () => {
    const fixture = await start({ stopGraceMs: 60_000 });
    fixture.partition.answer = () => undefined;
    const open = ask(fixture.port, { path: GREET });
    const openHttp2 = askHttp2(fixture.port, { path: GREET });
    await requestsReach(fixture, 2);
    const stopped = fixture.ingress[Symbol.asyncDispose]();
    await expect(ask(fixture.port, { path: GREET })).rejects.toThrow('ECONNREFUSED');
    for (const respond of fixture.partition.unanswered) {
      respond({
        kind: 'result',
        result: { kind: 'success', value: new Uint8Array([0x31]) },
        expiresAt: undefined,
        target: undefined,
      });
    }
    expect(await open).toMatchObject({ text: '1', headers: { connection: 'close' } });
    expect((await openHttp2).text).toBe('1');
    await stopped;
  });

  it('cuts what is still open after the named time, without a reply', async () => {
    const fixture = await start({ stopGraceMs: 5 });
    fixture.partition.answer = () => undefined;
    const open = ask(fixture.port, { path: GREET });
    const isCut = expect(open).rejects.toThrow('socket hang up');
    await requestsReach(fixture, 1);
    await fixture.ingress[Symbol.asyncDispose]();
    await isCut;
  });

  it('answers 503 at once to requests whose partition has gone already', async () => {
    const fixture = await start({ stopGraceMs: 60_000 });
    fixture.partition.answer = () => ({ kind: 'unavailable', reason: 'stopping' });
    const open = ask(fixture.port, { path: GREET });
    await requestsReach(fixture, 1);
    await fixture.ingress[Symbol.asyncDispose]();
    expect(await open).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  });
});

describe('starting', () => {
  it('names a port that is taken', async () => {
    const { port } = await start();
    await expect(startIngress({ bindPort: port })).rejects.toMatchObject({
      code: 'RT0004',
      details: { port },
    });
  });
});
