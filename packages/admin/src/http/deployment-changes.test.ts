import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { invocationIdFromBytes, type Invocation } from '@engine/domain';
import { type AdminFixture, idOf, problem, type Reply } from '../testing/admin-fixture.js';
import { service, type FakeEndpoint } from '../testing/fake-endpoint.js';
import { TwoEndpoints } from '../testing/two-endpoints.js';

const INVOCATION = invocationIdFromBytes(new Uint8Array(24).fill(7));

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

  const UNLIKE = [
    ['a handler is missing', { services: [service('Svc', { handlers: [] })] }],
    ['a service is missing', { services: [] }],
    ['the type is another', { services: [service('Svc', { ty: 'VIRTUAL_OBJECT' })] }],
    ['the versions are others', { services: [service('Svc')], maxProtocolVersion: 6 }],
  ] as const;
  it.each(
    ['PUT', 'PATCH', 'PUT /v2', 'PATCH /v2', 'PATCH /v4'].flatMap((way) =>
      UNLIKE.map(([name, manifest]) => [way, name, manifest] as const),
    ),
  )('%s minds whether %s', async (way, name, manifest) => {
    const [method = '', prefix = ''] = way.split(' ');
    const id = idOf(await register({ uri: one.uri }));
    two.answer = { manifest };
    const reply = await admin.ask(method, `${prefix}/deployments/${id}`, { uri: two.uri });
    const isRefused = prefix === '' || name === 'the versions are others';
    expect(reply).toMatchObject(
      isRefused ? { status: 400, json: problem('META0016') } : { status: 200 },
    );
    expect((await admin.ask('GET', `/deployments/${id}`)).json).toMatchObject({
      uri: isRefused ? one.uri : two.uri,
      services: [{ name: 'Svc', ty: 'Service', revision: 1 }],
    });
  });

  it('may change everything but the versions when an older client overwrites', async () => {
    const id = idOf(await register({ uri: one.uri }));
    one.answer = { manifest: { services: [service('Svc', { ty: 'VIRTUAL_OBJECT' })] } };
    const body = { uri: one.uri, overwrite: true };
    expect(await admin.ask('PATCH', `/v4/deployments/${id}`, body)).toMatchObject({
      status: 200,
      json: { services: [{ name: 'Svc', ty: 'VirtualObject', revision: 1 }] },
    });
  });

  it('changes nothing when discovery fails', async () => {
    const id = idOf(await register({ uri: one.uri }));
    two.answer = { status: 404 };
    expect(await admin.ask('PATCH', `/deployments/${id}`, { uri: two.uri })).toMatchObject({
      status: 500,
      json: problem('META0003'),
    });
    expect((await admin.ask('GET', `/deployments/${id}`)).json).toMatchObject({ uri: one.uri });
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
    const rest = { live: undefined, failure: undefined, awaiting: undefined };
    admin.snapshots.push({ id: INVOCATION, invocation, ...rest });
    expect(await admin.ask('DELETE', `/deployments/${id}`)).toMatchObject({
      status: 409,
      json: problem(null),
    });
    admin.snapshots.pop();
    expect((await admin.ask('DELETE', `/deployments/${id}`)).status).toBe(202);
    expect((await admin.ask('GET', `/deployments/${id}`)).status).toBe(404);
  });
});
