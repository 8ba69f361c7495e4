import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AdminFixture, idOf, problem, type Reply } from '../testing/admin-fixture.js';
import { FakeEndpoint, service } from '../testing/fake-endpoint.js';
import { TwoEndpoints } from '../testing/two-endpoints.js';

let endpoints: TwoEndpoints;
let admin: AdminFixture;
let one: FakeEndpoint;
let two: FakeEndpoint;

beforeEach(async () => {
  endpoints = await TwoEndpoints.start();
  ({ admin, one, two } = endpoints);
});

afterEach(() => endpoints[Symbol.asyncDispose]());

const register = (body: object, prefix?: string): Promise<Reply> => admin.register(body, prefix);

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

describe('deployments with one address', () => {
  it('are different ones when a routing header says so', async () => {
    await using routed = await AdminFixture.start({ deploymentRoutingHeaders: ['x-tenant'] });
    const at = (tenant: string, more: object = {}): Promise<Reply> =>
      routed.ask('POST', '/deployments', {
        uri: one.uri,
        additional_headers: { 'X-Tenant': tenant },
        ...more,
      });
    const first = await at('a');
    const second = await at('b');
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(await at('a')).toMatchObject({ status: 409, json: problem('META0004') });
    expect(await at('a', { force: true })).toMatchObject({
      status: 200,
      json: { id: idOf(first) },
    });
  });
});
