import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { limits } from '@engine/domain';
import { encodeUtf8 } from '@engine/stdx';
import { STATE_BODY_BYTES_MAX } from '../limits.js';
import { AdminFixture, problem, type Reply } from '../testing/admin-fixture.js';
import { FakeEndpoint, service } from '../testing/fake-endpoint.js';

let admin: AdminFixture;
let endpoint: FakeEndpoint;

beforeEach(async () => {
  admin = await AdminFixture.start();
  const services = [
    service('Svc', { handlers: [{ name: 'go' }, { name: 'own', abortTimeout: 5_000 }] }),
    service('Obj', { ty: 'VIRTUAL_OBJECT' }),
    service('Flow', { ty: 'WORKFLOW', handlers: [{ name: 'run', ty: 'WORKFLOW' }] }),
    service('Brief', {
      ty: 'WORKFLOW',
      handlers: [{ name: 'run', ty: 'WORKFLOW', workflowCompletionRetention: 5_000 }],
    }),
  ];
  endpoint = await FakeEndpoint.start('h2', { manifest: { services } });
  await admin.ask('POST', '/deployments', { uri: endpoint.uri });
});

afterEach(() => Promise.all([admin, endpoint].map((each) => each[Symbol.asyncDispose]())));

describe('changing a service', () => {
  const patch = (name: string, body: unknown, prefix = ''): Promise<Reply> =>
    admin.ask('PATCH', `${prefix}/services/${name}`, body);
  const shown = async (path: string): Promise<Reply['json']> =>
    (await admin.ask('GET', `/v4/services/${path}`)).json;

  it.each(['', '/v2', '/v3', '/v4'])('%s keeps the revision and all the rest', async (prefix) => {
    const before = await shown('Svc');
    const changes = {
      public: false,
      idempotency_retention: '2 hours',
      journal_retention: 'PT30M',
      inactivity_timeout: '1m 30s',
      abort_timeout: '01:30:00',
    };
    expect(await patch('Svc', changes, prefix)).toMatchObject({
      status: 200,
      json: { name: 'Svc', revision: 1, public: false, abort_timeout: '1h 30m' },
    });
    expect(await shown('Svc')).toEqual({
      ...before,
      public: false,
      idempotency_retention: '2h',
      journal_retention: '30m',
      inactivity_timeout: '1m 30s',
      abort_timeout: '1h 30m',
      handlers: (before['handlers'] as object[]).map((each) => ({ ...each, public: false })),
    });
    expect(await shown('Obj')).toMatchObject({ public: true });
  });

  it('leaves what a handler settles for itself', async () => {
    await patch('Svc', { abort_timeout: '7m' });
    expect(await shown('Svc/handlers/own')).toMatchObject({ abort_timeout: '5s' });
  });

  it('ends with the next registration', async () => {
    await patch('Svc', { abort_timeout: '7m', public: false });
    await admin.ask('POST', '/deployments', { uri: endpoint.uri, force: true });
    expect(await shown('Svc')).toMatchObject({ abort_timeout: '10m', public: true, revision: 2 });
  });

  it('reaches the newest revision only', async () => {
    await using newer = await FakeEndpoint.start('h2', {
      manifest: { services: [service('Svc')] },
    });
    await admin.ask('POST', '/deployments', { uri: newer.uri });
    await patch('Svc', { abort_timeout: '7m' });
    const { deployments } = (await admin.ask('GET', '/deployments')).json as {
      deployments: { id: string }[];
    };
    const details = await Promise.all(
      deployments.map(({ id }) => admin.ask('GET', `/deployments/${id}`)),
    );
    const timeouts = details.map(({ json }) =>
      (json['services'] as { name: string; abort_timeout: string }[])
        .filter(({ name }) => name === 'Svc')
        .map((each) => each.abort_timeout),
    );
    expect(timeouts).toEqual([['10m'], ['7m']]);
  });

  it('sets how long results of workflows are kept, of workflows alone', async () => {
    const change = { workflow_completion_retention: '1w' };
    expect(await patch('Flow', change)).toMatchObject({
      status: 200,
      json: { workflow_completion_retention: '7days' },
    });
    expect(await patch('Svc', change)).toMatchObject({ status: 400, json: problem(null) });
  });

  it('changes that also where the manifest states it at the run handler', async () => {
    expect(await shown('Brief')).toMatchObject({ workflow_completion_retention: '5s' });
    await patch('Brief', { workflow_completion_retention: '1w' });
    expect(await shown('Brief')).toMatchObject({ workflow_completion_retention: '7d' });
  });

  it.each([{}, { public: null, abort_timeout: null }, { nothing: 1 }])(
    'with %j changes nothing',
    async (body) => {
      const before = await shown('Svc');
      expect((await patch('Svc', body, '/v4')).json).toEqual(before);
      expect(await patch('Nobody', body)).toMatchObject({ status: 404, json: problem(null) });
    },
  );

  it.each(['', 'abc', '1mo', 'P1M', '1y', '-1s', '5s ago', '100', ' 5s', '5s ', '1.5d', 'inf', 5])(
    'refuses the duration %j',
    async (abort_timeout) => {
      const reply = await patch('Svc', { abort_timeout });
      expect(reply).toMatchObject({ status: 422, json: problem(null) });
      expect(reply.json['message']).toContain('abort_timeout');
    },
  );
});

describe('replacing a state', () => {
  const replace = (name: string, body: unknown, prefix = ''): Promise<Reply> =>
    admin.ask('POST', `${prefix}/services/${name}/state`, body);

  it.each(['', '/v2', '/v3', '/v4'])('%s asks the partition', async (prefix) => {
    const body = {
      object_key: 'k/ü',
      version: 'v',
      scope: null,
      new_state: { count: [52, 49], name: '"ü"', none: [] },
    };
    expect(await replace('Obj', body, prefix)).toMatchObject({ status: 202, text: '' });
    expect(admin.operations).toEqual([
      {
        kind: 'replace-state',
        requestId: expect.stringMatching(/^[0-9A-Z]{26}$/),
        service: 'Obj',
        key: 'k/ü',
        expectedVersion: 'v',
        entries: [
          { key: 'count', value: encodeUtf8('41') },
          { key: 'name', value: encodeUtf8('"ü"') },
          { key: 'none', value: new Uint8Array() },
        ],
      },
    ]);
  });

  it.each([
    ['Flow', { object_key: 'k', new_state: { a: '1' } }, 202],
    ['Svc', { object_key: 'k', new_state: { a: '1' } }, 400],
    ['Svc', { object_key: 'k', new_state: {} }, 400],
    ['Nobody', { object_key: 'k', new_state: { a: '1' } }, 404],
    ['Nobody', { object_key: 'k', new_state: {} }, 202],
    ['Obj', { new_state: {} }, 422],
    ['Obj', { object_key: 'k' }, 422],
    ['Obj', { object_key: 5, new_state: {} }, 422],
    ['Obj', { object_key: 'k', new_state: { a: [256] } }, 422],
    ['Obj', { object_key: 'k', new_state: { a: [-1] } }, 422],
    ['Obj', { object_key: 'k', new_state: { a: [0.5] } }, 422],
    ['Obj', { object_key: 'k', new_state: { a: 5 } }, 422],
    ['Obj', { object_key: 'k', new_state: { a: null } }, 422],
    ['Obj', { object_key: 'k', new_state: [], version: 1 }, 422],
  ])('of %s with %j gives %i', async (name, body, status) => {
    const reply = await replace(name, body);
    expect(reply.status).toBe(status);
    expect(status < 300 ? reply.text : reply.json).toEqual(status < 300 ? '' : problem(null));
    expect(admin.operations).toHaveLength(status < 300 ? 1 : 0);
  });

  it('in a scope needs flow control', async () => {
    const body = { object_key: 'k', new_state: {}, scope: 's' };
    expect(await replace('Obj', body)).toMatchObject({ status: 400, json: problem('RT0024') });
    expect(admin.operations).toEqual([]);
  });

  it.each([
    [{ kind: 'operation', outcome: 'unchanged' }, 202],
    [{ kind: 'operation', outcome: 'done' }, 202],
    [{ kind: 'operation', outcome: 'limit-reached' }, 429],
    [{ kind: 'unavailable', reason: 'stopping' }, 503],
  ] as const)('that the partition answers with %j gives %i', async (answer, status) => {
    admin.stateAnswer = answer;
    const reply = await replace('Obj', { object_key: 'k', new_state: {} });
    expect(reply.status).toBe(status);
  });

  it('may have many entries, up to a limit', async () => {
    const counted = (count: number): Promise<Reply> => {
      const entries = Array.from({ length: count }, (_, index) => [`k${String(index)}`, 'v']);
      return replace('Obj', { object_key: 'k', new_state: Object.fromEntries(entries) });
    };
    const max = limits.STATE_REPLACEMENT_ENTRIES_MAX;
    expect((await counted(max)).status).toBe(202);
    expect(await counted(max + 1)).toMatchObject({ status: 413, json: problem(null) });
  });

  it('may be large, up to a limit', async () => {
    const sized = (bytes: number): Promise<Reply> =>
      replace('Obj', { object_key: 'k', new_state: { a: 'x'.repeat(bytes) } });
    expect((await sized(STATE_BODY_BYTES_MAX - 100)).status).toBe(202);
    expect(await sized(STATE_BODY_BYTES_MAX)).toMatchObject({ status: 413, json: problem(null) });
  });
});

describe('payloads', () => {
  const path = (direction: string, name = 'go/in%20put'): string =>
    `/internal/services/Svc/serdes/${direction}/${name}`;
  const convert = (direction: string, query = ''): Promise<Reply> =>
    admin.ask('POST', path(direction) + query, 'raw', {
      'content-type': 'application/octet-stream',
    });

  it.each([
    ['decode', 'application/octet-stream', 'application/json'],
    ['encode', 'application/json', '*/*'],
  ])('are %sd by the deployment', async (direction, given, wanted) => {
    endpoint.answer = { body: '"shown"' };
    expect(await convert(direction)).toMatchObject({ status: 200, text: '"shown"' });
    expect(endpoint.requests.at(-1)).toMatchObject({
      method: 'POST',
      path: `/serdes/Svc/${direction}/go/in%20put`,
      headers: {
        'content-type': given,
        accept: wanted,
        'x-restate-serdes-protocol': 'v1',
        'x-restate-cluster-name': 'engine',
      },
    });
  });

  it.each([
    ['an unknown service', '/internal/services/Nobody/serdes/decode/x', 404],
    ['an unknown deployment', `${path('decode')}?deployment=dp_10000000000000000000000`, 404],
    ['a bad deployment id', `${path('decode')}?deployment=dp_`, 400],
    ['an unknown direction', path('guess'), 404],
    ['no name', '/internal/services/Svc/serdes/decode', 404],
  ])('of %s are refused', async (_name, where, status) => {
    expect(await admin.ask('POST', where, 'x')).toMatchObject({ status, json: problem(null) });
  });

  it('are a fault of the deployment when it does not convert them', async () => {
    endpoint.answer = { status: 404 };
    expect(await convert('decode')).toMatchObject({ status: 500, json: problem(null) });
    await endpoint[Symbol.asyncDispose]();
    expect(await convert('decode')).toMatchObject({ status: 500, json: problem(null) });
  });
});
