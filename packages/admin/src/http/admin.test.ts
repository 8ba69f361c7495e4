import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { deploymentIdFromUlid, invocationIdFromBytes, type Invocation } from '@engine/domain';
import { AdminFixture, type Reply } from '../testing/admin-fixture.js';
import { FakeEndpoint, service } from '../testing/fake-endpoint.js';

const UNKNOWN_DEPLOYMENT = deploymentIdFromUlid(new Uint8Array(16));
const INVOCATION = invocationIdFromBytes(new Uint8Array(24).fill(7));

let admin: AdminFixture;
let one: FakeEndpoint;
let two: FakeEndpoint;

beforeEach(async () => {
  admin = await AdminFixture.start();
  one = await FakeEndpoint.start('h2', { manifest: { services: [service('Svc')] } });
  two = await FakeEndpoint.start('h2', { manifest: { services: [service('Svc')] } });
});

afterEach(async () => {
  await Promise.all([admin, one, two].map((each) => each[Symbol.asyncDispose]()));
});

const register = (body: object, prefix = ''): Promise<Reply> =>
  admin.ask('POST', `${prefix}/deployments`, body);
const idOf = ({ json }: Reply): string => String(json['id']);
const problem = (code: string | null): object => ({
  message: expect.any(String),
  engine_code: code,
  restate_code: code,
});

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
    ['DELETE', `/v4/deployments/${UNKNOWN_DEPLOYMENT}`, 501],
    ['PUT', `/v4/deployments/${UNKNOWN_DEPLOYMENT}`, 405],
    ['GET', '/services/Nobody', 404],
    ['GET', '/services/Nobody/openapi', 404],
    ['GET', '/v4/services/Nobody/openapi', 404],
    ['GET', '/services/Nobody/handlers', 404],
    ['GET', '/services/Nobody/handlers/x', 404],
    ['GET', '/query', 405],
    ['PATCH', '/invocations/foo/cancel', 400],
    ['DELETE', `/invocations/${INVOCATION}?mode=foo`, 400],
  ])('%s %s is refused with %i and the error body', async (method, path, status) => {
    expect(await admin.ask(method, path)).toMatchObject({ status, json: problem(null) });
  });

  it.each([
    ['POST', '/services', 'GET,HEAD'],
    ['OPTIONS', '/deployments', 'GET,HEAD,POST'],
    ['DELETE', '/services/Greeter', 'GET,HEAD'],
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
    [{ 'content-type': 'application/json' }, '{"uri":"http://a b"}', 400],
    [{ 'content-type': 'application/json' }, '{"uri":"ftp://h/"}', 400],
    [{ 'content-type': 'application/json' }, '{"arn":"arn:aws:lambda:eu"}', 400],
    [
      { 'content-type': 'application/json' },
      '{"arn":"arn:aws:lambda:eu-central-1:1:function:f"}',
      400,
    ],
    [
      { 'content-type': 'application/json' },
      '{"arn":"arn:aws:lambda:eu-central-1:1:function:f:1"}',
      501,
    ],
  ])('refuses a registration %j %s with %i', async (headers, body, status) => {
    const reply = await admin.ask('POST', '/deployments', body, headers);
    expect(reply).toMatchObject({ status, json: problem(null) });
  });

  it('compresses what is long', async () => {
    const names = Array.from({ length: 50 }, (_, n) => service(`Svc${String(n)}`));
    one.answer = { manifest: { services: names } };
    await register({ uri: one.uri });
    const { headers, json } = await admin.ask('GET', '/services');
    expect(headers.get('content-encoding')).not.toBeNull();
    expect(json['services']).toHaveLength(50);
  });
});

describe('registration', () => {
  it('answers with the services, and shows them from then on', async () => {
    const reply = await register({ uri: one.uri, metadata: { commit: 'abc' }, nothing: 1 });
    expect(reply.status).toBe(201);
    const id = idOf(reply);
    expect(reply.headers.get('location')).toBe(`deployments/${id}`);
    const shown = {
      name: 'Svc',
      ty: 'Service',
      handlers: [
        {
          name: 'go',
          input_description: '',
          output_description: '',
          public: true,
          retry_policy: { max_attempts: null },
        },
      ],
      deployment_id: id,
      revision: 1,
      public: true,
      idempotency_retention: '1day',
      journal_retention: '1day',
      inactivity_timeout: '1m',
      abort_timeout: '10m',
      enable_lazy_state: false,
      retry_policy: {
        initial_interval: '500ms',
        exponentiation_factor: 2,
        max_attempts: 70,
        max_interval: '1m',
        on_max_attempts: 'Pause',
      },
    };
    expect(reply.json).toEqual({
      id,
      services: [shown],
      min_protocol_version: 5,
      max_protocol_version: 7,
    });
    const { json } = await admin.ask('GET', `/deployments/${id}`);
    expect(json).toEqual({
      id,
      uri: one.uri,
      protocol_type: 'BidiStream',
      http_version: 'HTTP/2.0',
      metadata: { commit: 'abc' },
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}(\.\d{9})?Z$/),
      min_protocol_version: 5,
      max_protocol_version: 7,
      services: [shown],
    });
    const list = await admin.ask('GET', '/deployments');
    expect(list.json['deployments']).toEqual([
      { ...json, services: [{ name: 'Svc', revision: 1 }] },
    ]);
    expect((await admin.ask('GET', '/services')).json).toEqual({ services: [shown] });
    expect((await admin.ask('GET', '/services/Svc')).json).toEqual(shown);
    expect((await admin.ask('GET', '/services/Svc/handlers')).json).toEqual({
      handlers: shown.handlers,
    });
    expect((await admin.ask('GET', '/services/Svc/handlers/go')).json).toEqual(shown.handlers[0]);
    expect((await admin.ask('GET', '/services/Svc/handlers/no')).status).toBe(404);
  });

  it('describes the newest revision with OpenAPI, under each version prefix', async () => {
    await register({ uri: one.uri });
    await register({ uri: two.uri });
    for (const prefix of ['', '/v2', '/v3', '/v4']) {
      const { status, headers, json } = await admin.ask('GET', `${prefix}/services/Svc/openapi`);
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe('application/json');
      expect(json).toMatchObject({
        openapi: '3.1.0',
        info: { title: 'Svc', version: '2' },
        servers: [{ url: 'http://127.0.0.1:8080/' }],
        paths: { '/engine/call/Svc/go': { post: { operationId: 'go' } } },
      });
    }
  });

  it('makes the newest destination the one that serves', async () => {
    const first = idOf(await register({ uri: one.uri }));
    const reply = await register({ uri: two.uri });
    expect(reply).toMatchObject({ status: 201, json: { services: [{ revision: 2 }] } });
    expect((await admin.ask('GET', '/services/Svc')).json).toMatchObject({
      revision: 2,
      deployment_id: idOf(reply),
    });
    expect((await admin.ask('GET', `/deployments/${first}`)).json).toMatchObject({
      services: [{ revision: 1 }],
    });
    expect((await admin.ask('DELETE', `/deployments/${idOf(reply)}?force=true`)).status).toBe(202);
    expect((await admin.ask('GET', '/services/Svc')).json).toMatchObject({
      revision: 1,
      deployment_id: first,
    });
  });

  it('refuses a destination that is known, as each version wants it', async () => {
    const id = idOf(await register({ uri: one.uri }));
    const again = `${one.uri}?x=1`;
    expect(await register({ uri: again })).toMatchObject({
      status: 409,
      json: problem('META0004'),
    });
    expect(await register({ uri: again, force: false }, '/v2')).toMatchObject({
      status: 409,
      json: problem(null),
    });
    expect(await register({ uri: again }, '/v4')).toMatchObject({
      status: 200,
      json: { id, services: [{ revision: 1 }] },
    });
    expect(one.requests).toHaveLength(1);
    expect(await register({ uri: again, force: true })).toMatchObject({
      status: 200,
      json: { id, services: [{ revision: 2 }] },
    });
    expect(await register({ uri: again }, '/v2')).toMatchObject({
      status: 201,
      json: { id, services: [{ revision: 3 }] },
    });
  });

  it('with force replaces the services', async () => {
    const id = idOf(await register({ uri: one.uri }));
    one.answer = { manifest: { services: [service('Other')] } };
    expect(await register({ uri: one.uri, force: true })).toMatchObject({
      status: 200,
      json: { id, services: [{ name: 'Other', revision: 1 }] },
    });
    expect((await admin.ask('GET', '/services/Svc')).status).toBe(404);
  });

  it('as a dry run changes nothing', async () => {
    expect(await register({ uri: one.uri, dry_run: true })).toMatchObject({
      status: 201,
      json: { services: [{ revision: 1 }] },
    });
    expect((await admin.ask('GET', '/services/Svc')).status).toBe(404);
  });

  it('lets a service change its type only when told to', async () => {
    await register({ uri: one.uri });
    two.answer = { manifest: { services: [service('Svc', { ty: 'VIRTUAL_OBJECT' })] } };
    expect(await register({ uri: two.uri })).toMatchObject({
      status: 409,
      json: problem('META0006'),
    });
    expect((await admin.ask('GET', '/services/Svc')).json).toMatchObject({
      ty: 'Service',
      revision: 1,
    });
    expect(await register({ uri: two.uri, breaking: true })).toMatchObject({
      status: 201,
      json: { services: [{ ty: 'VirtualObject', revision: 2, handlers: [{ ty: 'Exclusive' }] }] },
    });
  });

  it('refuses what discovery refuses, with the code first in the message', async () => {
    one.answer = { manifest: { services: [service('EngineRoom')] } };
    expect(await register({ uri: one.uri })).toMatchObject({
      status: 400,
      json: { message: expect.stringMatching(/^\[META0005\] /), engine_code: 'META0005' },
    });
    one.answer = { manifest: { minProtocolVersion: 1, maxProtocolVersion: 3 } };
    expect(await register({ uri: one.uri })).toMatchObject({
      status: 500,
      json: problem('META0012'),
    });
    one.answer = { manifest: { surprise: 1 } };
    expect(await register({ uri: one.uri })).toMatchObject({ status: 500, json: problem(null) });
  });

  it('over HTTP/1.1, with headers', async () => {
    await using plain = await FakeEndpoint.start('h1', {
      manifest: { services: [service('Svc')] },
    });
    const additional_headers = { 'X-Secret': 'open sesame' };
    const reply = await register({ uri: plain.uri, use_http_11: true, additional_headers });
    expect(reply.status).toBe(201);
    expect(plain.requests[0]?.headers).toMatchObject({ 'x-secret': 'open sesame' });
    expect((await admin.ask('GET', `/deployments/${idOf(reply)}`)).json).toMatchObject({
      http_version: 'HTTP/1.1',
      additional_headers: { 'x-secret': 'open sesame' },
    });
  });

  it('does not lose one of two that come at the same time', async () => {
    const replies = await Promise.all([register({ uri: one.uri }), register({ uri: two.uri })]);
    expect(replies.map(({ status }) => status)).toEqual([201, 201]);
    expect((await admin.ask('GET', '/services/Svc')).json).toMatchObject({ revision: 2 });
  });
});

describe('update in place', () => {
  it.each([
    ['PUT', ''],
    ['PATCH', ''],
    ['PUT', '/v2'],
    ['PATCH', '/v4'],
  ])('%s %s/deployments moves a deployment', async (method, prefix) => {
    const id = idOf(await register({ uri: one.uri }));
    const path = `${prefix}/deployments/${id}`;
    expect(await admin.ask(method, path, { uri: two.uri, dry_run: true })).toMatchObject({
      status: 200,
      json: { uri: two.uri },
    });
    expect((await admin.ask('GET', path)).json).toMatchObject({ uri: one.uri });
    expect(await admin.ask(method, path, { uri: two.uri })).toMatchObject({
      status: 200,
      json: { id, uri: two.uri, services: [{ revision: 1 }] },
    });
    expect((await admin.ask('GET', path)).json).toMatchObject({ uri: two.uri });
  });

  it.each([
    ['PUT', { services: [service('Svc', { handlers: [] })] }],
    ['PUT', { services: [] }],
    ['PUT', { services: [service('Svc', { ty: 'VIRTUAL_OBJECT' })] }],
    ['PUT', { services: [service('Svc')], maxProtocolVersion: 6 }],
    ['PATCH', { services: [service('Svc')], maxProtocolVersion: 6 }],
  ])('%s refuses what is not similar: %j', async (method, manifest) => {
    const id = idOf(await register({ uri: one.uri }));
    two.answer = { manifest };
    expect(await admin.ask(method, `/deployments/${id}`, { uri: two.uri })).toMatchObject({
      status: 400,
      json: problem('META0016'),
    });
  });

  it('takes services over when told to, and headers as they are given', async () => {
    const id = idOf(await register({ uri: one.uri }));
    const patch = (body: object): Promise<Reply> => admin.ask('PATCH', `/deployments/${id}`, body);
    two.answer = {
      manifest: {
        services: [
          service('Svc', { handlers: [{ name: 'go' }, { name: 'more' }] }),
          service('New'),
        ],
      },
    };
    expect(await patch({ uri: two.uri, overwrite: true })).toMatchObject({
      status: 200,
      json: {
        services: [
          { name: 'Svc', revision: 1, handlers: [{ name: 'go' }, { name: 'more' }] },
          { name: 'New', revision: 1 },
        ],
      },
    });
    const asked = two.requests.length;
    expect((await patch({})).json).toMatchObject({ id, uri: two.uri });
    expect(two.requests).toHaveLength(asked);
    expect((await patch({ uri: null, additional_headers: { 'x-a': '1' } })).json).toMatchObject({
      additional_headers: { 'x-a': '1' },
    });
    expect((await patch({ uri: null, additional_headers: {} })).json).not.toHaveProperty(
      'additional_headers',
    );
  });

  it('makes force ambiguous when two deployments share a destination', async () => {
    await register({ uri: one.uri });
    const second = idOf(await register({ uri: two.uri }));
    await admin.ask('PUT', `/deployments/${second}`, { uri: one.uri });
    expect(await register({ uri: one.uri, force: true })).toMatchObject({
      status: 409,
      json: problem('META0017'),
    });
    await admin.ask('DELETE', `/deployments/${second}?force=true`);
    expect((await register({ uri: one.uri, force: true })).status).toBe(200);
  });
});

describe('removal without force', () => {
  it('is refused while an invocation has to go on there', async () => {
    const id = idOf(await register({ uri: one.uri }));
    const pin = { deploymentId: id, protocolVersion: 7 };
    const invocation = { status: 'suspended', pin } as unknown as Invocation;
    admin.snapshots.push({ id: INVOCATION, invocation, live: undefined, failure: undefined });
    expect(await admin.ask('DELETE', `/deployments/${id}`)).toMatchObject({
      status: 409,
      json: problem(null),
    });
    admin.snapshots.pop();
    expect((await admin.ask('DELETE', `/deployments/${id}`)).status).toBe(202);
    expect((await admin.ask('GET', `/deployments/${id}`)).status).toBe(404);
  });
});

describe('operations on an invocation', () => {
  it.each([
    ['cancel', 'done', 200],
    ['cancel', 'appended', 202],
    ['cancel', 'already-completed', 409],
    ['cancel', 'not-found', 404],
    ['kill', 'done', 200],
    ['kill', 'appended', 200],
    ['kill', 'already-completed', 409],
    ['kill', 'not-found', 404],
  ] as const)('%s that is %s gives %i', async (kind, outcome, status) => {
    admin.outcomes.set(INVOCATION, { kind: 'operation', outcome });
    const reply = await admin.ask('PATCH', `/invocations/${INVOCATION}/${kind}`);
    expect(reply.status).toBe(status);
    expect(status < 300 ? reply.text : reply.json).toEqual(status < 300 ? '' : problem(null));
    expect(admin.operations).toEqual([
      { kind, requestId: expect.stringMatching(/^[0-9A-Z]{26}$/), invocationId: INVOCATION },
    ]);
  });

  it('gives 503 when the partition takes no work', async () => {
    admin.outcomes.set(INVOCATION, { kind: 'unavailable', reason: 'stopping' });
    const reply = await admin.ask('PATCH', `/invocations/${INVOCATION}/kill`);
    expect(reply).toMatchObject({ status: 503, json: problem(null) });
  });

  it('DELETE says 202 whatever the outcome', async () => {
    expect((await admin.ask('DELETE', `/invocations/${INVOCATION}`)).status).toBe(202);
    expect((await admin.ask('DELETE', `/invocations/${INVOCATION}?mode=Kill`)).status).toBe(202);
    expect(admin.operations.map(({ kind }) => kind)).toEqual(['cancel', 'kill']);
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
