import { once } from 'node:events';
import { get, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { connect, type ClientHttp2Session, type OutgoingHttpHeaders } from 'node:http2';
import { buffer, text } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { deploymentIdFromUlid, invocationIdFromBytes, type PartitionAnswer } from '@engine/domain';
import { Deferred } from '@engine/stdx';
import { REQUEST_BODY_BYTES_MAX } from '../limits.js';
import { IRREVOCABLE } from '@engine/wire';
import { AdminFixture, problem, type Reply } from '../testing/admin-fixture.js';
import { service, type FakeEndpoint } from '../testing/fake-endpoint.js';
import { TwoEndpoints } from '../testing/two-endpoints.js';

const UNKNOWN_DEPLOYMENT = deploymentIdFromUlid(new Uint8Array(16));
const JSON_TYPE = 'application/json';
const INVOCATION = invocationIdFromBytes(new Uint8Array(24).fill(7));

let endpoints: TwoEndpoints;
let admin: AdminFixture;
let one: FakeEndpoint;

beforeEach(async () => {
  endpoints = await TwoEndpoints.start();
  ({ admin, one } = endpoints);
});

afterEach(() => endpoints[Symbol.asyncDispose]());

const register = (body: object, prefix?: string): Promise<Reply> => admin.register(body, prefix);

/** Without the decompression that fetch does by itself. */
async function rawGet(
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ headers: IncomingHttpHeaders; body: Buffer }> {
  const [response] = (await once(get(admin.url + path, { headers }), 'response')) as [
    IncomingMessage,
  ];
  return { headers: response.headers, body: await buffer(response) };
}

async function overHttp2(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: string,
): Promise<{ status: unknown; json: unknown }> {
  const stream = session.request(headers, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  const [head] = (await once(stream, 'response')) as [Record<string, unknown>];
  const given = await text(stream);
  return { status: head[':status'], json: given === '' ? undefined : JSON.parse(given) };
}

describe('the server', () => {
  it('is healthy only when it can take work', async () => {
    expect(await admin.ask('GET', '/health')).toMatchObject({ status: 200, text: '' });
    admin.isReady = false;
    expect(await admin.ask('GET', '/health')).toMatchObject({ status: 503, json: problem(null) });
  });

  it('says its version, also under each version prefix', async () => {
    for (const prefix of ['', '/v2', '/v3', '/v4']) {
      const { status, json, headers } = await admin.ask('GET', `${prefix}/version`);
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe('application/json');
      expect(json).toEqual({
        version: '1.7.2',
        min_admin_api_version: 2,
        max_admin_api_version: 4,
        ingress_endpoint: 'http://127.0.0.1:8080/',
        features: { vqueues: false, protocol_v7: true },
      });
    }
  });

  it.each([
    ['GET', '/nope', 404],
    ['GET', '/services/', 404],
    ['GET', '/health/', 404],
    ['GET', '/Services', 404],
    ['GET', '/v5/services', 404],
    ['GET', '/v1/services', 400],
    ['GET', '/services/%FF/handlers/x', 400],
    ['GET', '/deployments/foo', 400],
    ['GET', '/deployments/sub_111yNZYbf9Urc4I11R3vhi9', 400],
    ['GET', `/deployments/${UNKNOWN_DEPLOYMENT}`, 404],
    ['DELETE', `/deployments/${UNKNOWN_DEPLOYMENT}?force=true`, 404],
    ['DELETE', `/deployments/${UNKNOWN_DEPLOYMENT}?force=maybe`, 400],
    ['PUT', `/v4/deployments/${UNKNOWN_DEPLOYMENT}`, 405],
    ['GET', '/services/Nobody', 404],
    ['GET', '/services/Nobody/openapi', 404],
    ['GET', '/v4/services/Nobody/openapi', 404],
    ['GET', '/services/Nobody/handlers', 404],
    ['GET', '/services/Nobody/handlers/x', 404],
    ['GET', '/query', 405],
    ['PATCH', '/invocations/foo/cancel', 400],
    ['DELETE', `/invocations/${INVOCATION}?mode=foo`, 400],
    ['GET', '/batch-operations?cursor=a&cursor=b', 400],
    ['POST', '/internal/services/S/serdes/decode/x?deployment=a&deployment=b', 400],
  ])('%s %s is refused with %i and the error body', async (method, path, status) => {
    expect(await admin.ask(method, path)).toMatchObject({ status, json: problem(null) });
  });

  it.each([
    ['POST', '/services', 'GET,HEAD'],
    ['OPTIONS', '/deployments', 'GET,HEAD,POST'],
    ['DELETE', '/services/Greeter', 'GET,HEAD,PATCH'],
  ])('%s %s names the methods that are allowed', async (method, path, allow) => {
    const { status, headers } = await admin.ask(method, path);
    expect([status, headers.get('allow')]).toEqual([405, allow]);
  });

  it.each([
    [{ 'content-type': 'text/plain' }, '{}', 415],
    [{ 'content-type': 'application/json' }, '{bad', 400],
    [{ 'content-type': 'application/json' }, '{}', 422],
    [{ 'content-type': 'application/json' }, '{"uri":5}', 422],
    [{ 'content-type': 'application/json' }, '{"uri":"http://h","force":"yes"}', 422],
    [
      { 'content-type': 'application/json' },
      '{"uri":"http://h","additional_headers":{"a b":"x"}}',
      422,
    ],
    [{ 'content-type': 'application/json' }, '{"uri":"/just/a/path"}', 400],
    [{ 'content-type': 'application/json' }, '{"uri":"http://a b"}', 422],
    [{ 'content-type': 'application/json' }, '', 400],
    [{ 'content-type': 'application/json', 'content-encoding': 'gzip' }, '{}', 415],
    [{ 'content-type': 'application/json' }, '{"uri":"ftp://h/"}', 400],
    [{ 'content-type': 'application/json' }, '{"arn":"arn:aws:lambda:eu"}', 400],
    [
      { 'content-type': 'application/json' },
      '{"arn":"arn:aws:lambda:eu-central-1:1:function:f"}',
      400,
    ],
    [{ 'content-type': 'application/json' }, '{"uri":"http://h","auth":{"GoogleIdToken":{}}}', 400],
  ])('refuses a registration %j %s with %i', async (headers, body, status) => {
    const reply = await admin.ask('POST', '/deployments', body, headers);
    expect(reply).toMatchObject({ status, json: problem(null) });
  });

  it.each(['/v2', '/v3', '/v4'])('says less under %s, as its clients know it', async (prefix) => {
    const unforced = `${prefix}/deployments/${UNKNOWN_DEPLOYMENT}`;
    expect(await admin.ask('DELETE', unforced)).toMatchObject({ status: 501, text: '' });
    expect(await admin.ask('GET', `${prefix}/nope`)).toMatchObject({ status: 404, text: '' });
  });

  it('refuses a body that is too large', async () => {
    const body = { uri: one.uri, metadata: { long: 'x'.repeat(REQUEST_BODY_BYTES_MAX) } };
    expect(await register(body)).toMatchObject({ status: 413, json: problem(null) });
    expect(one.requests).toEqual([]);
  });

  it.each([
    ['zstd', zstdDecompressSync],
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
    ['deflate', inflateSync],
  ] as const)('compresses what is long, with %s', async (encoding, decompress) => {
    const names = Array.from({ length: 50 }, (_, n) => service(`Svc${String(n)}`));
    one.answer = { manifest: { services: names } };
    await register({ uri: one.uri });
    const { headers, body } = await rawGet('/services', { 'accept-encoding': encoding });
    expect(headers).toMatchObject({ 'content-encoding': encoding, vary: 'accept-encoding' });
    const { services } = JSON.parse(decompress(body).toString()) as { services: object[] };
    expect(services).toHaveLength(50);
  });

  it('compresses nothing for clients that want it as it is', async () => {
    const plain = await rawGet('/openapi', {});
    expect(plain.headers).toMatchObject({ vary: 'accept-encoding' });
    expect(plain.headers).not.toHaveProperty('content-encoding');
    const refused = await rawGet('/openapi', { 'accept-encoding': 'gzip;q=0, identity' });
    expect(refused.headers).not.toHaveProperty('content-encoding');
    expect(refused.body).toEqual(plain.body);
  });

  it.each(['/health', '/version', '/services', '/deployments', '/openapi'])(
    'answers HEAD %s without a body',
    async (path) => {
      const { status, text } = await admin.ask('HEAD', path);
      expect([status, text]).toEqual([200, '']);
    },
  );

  it('speaks HTTP/2 on the same port', async () => {
    const session = connect(admin.url);
    try {
      const body = JSON.stringify({ uri: one.uri });
      const headers = { ':method': 'POST', ':path': '/deployments', 'content-type': JSON_TYPE };
      // No length is said: HTTP/2 needs none.
      expect(await overHttp2(session, headers, body)).toMatchObject({
        status: 201,
        json: { services: [{ name: 'Svc' }] },
      });
      expect(await overHttp2(session, { ':path': '/v4/services/Svc' })).toMatchObject({
        status: 200,
        json: { name: 'Svc' },
      });
      expect(await overHttp2(session, { ':path': '/services/No' })).toMatchObject({
        status: 404,
        json: problem(null),
      });
      const zstd = { ':path': '/services', 'accept-encoding': 'zstd', ':method': 'HEAD' };
      expect(await overHttp2(session, zstd)).toMatchObject({ status: 200 });
    } finally {
      session.close();
    }
  });

  it('refuses more requests at a time than it may have, except for its health', async () => {
    const asked = new Deferred<(answer: PartitionAnswer) => void>();
    const channel = {
      send: (_request: unknown, respond: (answer: PartitionAnswer) => void) => {
        asked.resolve(respond);
        return IRREVOCABLE;
      },
    };
    await using narrow = await AdminFixture.start({ concurrentRequestsMax: 1 }, { channel });
    const slow = narrow.ask('PATCH', `/invocations/${INVOCATION}/kill`);
    const respond = await asked.promise;
    const refused = await narrow.ask('GET', '/v4/services');
    expect(refused).toMatchObject({ status: 429, json: problem(null) });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await narrow.ask('GET', '/health')).status).toBe(200);
    respond({ kind: 'operation', outcome: 'done' });
    expect((await slow).status).toBe(200);
    expect((await narrow.ask('GET', '/v4/services')).status).toBe(200);
  });
});

describe('queries', () => {
  it('are answered with the JSON as it comes', async () => {
    admin.answers.set('SELECT 1 AS one', ['{"rows":[', '{"one":1}]}']);
    const query = { query: 'SELECT 1 AS one', other: 2 };
    for (const prefix of ['', '/v2', '/v3', '/v4']) {
      const { status, headers, text } = await admin.ask('POST', `${prefix}/query`, query);
      expect([status, text]).toEqual([200, '{"rows":[{"one":1}]}']);
      expect(headers.get('content-type')).toBe('application/json');
    }
  });

  it.each([
    ['{"query":"SELEC"}', 400],
    ['{"query":1}', 422],
    ['{}', 422],
    ['{bad', 400],
  ])('%s is refused with %i', async (body, status) => {
    expect(await admin.ask('POST', '/query', body)).toMatchObject({ status, json: problem(null) });
  });
});
