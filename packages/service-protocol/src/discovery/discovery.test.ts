import { describe, expect, it } from '@jest/globals';
import { encodeUtf8 } from '@engine/stdx';
import fc from 'fast-check';
import { readDiscovery, type Discovery } from './discovery.js';
import { DISCOVERY_ACCEPT } from './manifest.js';
import type { DiscoveryRefusal } from './refusal.js';

const V = (version: number): string =>
  `application/vnd.restate.endpointmanifest.v${version.toString()}+json`;

interface Overrides {
  readonly contentType?: string | undefined;
  readonly sdkVersion?: string;
  readonly canStreamBothWays?: boolean;
}

function discover(manifest: unknown, overrides: Overrides = {}): Discovery | DiscoveryRefusal {
  return readDiscovery({
    contentType: V(4),
    body: encodeUtf8(typeof manifest === 'string' ? manifest : JSON.stringify(manifest)),
    sdkVersion: undefined,
    canStreamBothWays: true,
    ...overrides,
  });
}

const root = (more: object = {}): object => ({
  protocolMode: 'BIDI_STREAM',
  minProtocolVersion: 5,
  maxProtocolVersion: 7,
  services: [],
  ...more,
});
const withService = (service: object): object =>
  root({ services: [{ name: 'S', ty: 'SERVICE', handlers: [], ...service }] });
const withHandler = (handler: object, service: object = {}): object =>
  withService({ handlers: [{ name: 'h', ...handler }], ...service });

function discovered(manifest: unknown, overrides: Overrides = {}): Discovery {
  const result = discover(manifest, overrides);
  if (result.kind === 'refused') throw new Error(result.message);
  return result;
}

describe('discovery request', () => {
  it('offers the four versions in order', () => {
    expect(DISCOVERY_ACCEPT).toBe([1, 2, 3, 4].map(V).join(', '));
  });
});

describe('accepted manifests', () => {
  it('reads everything that a manifest can say', () => {
    const handler = {
      name: 'run',
      ty: 'WORKFLOW',
      input: { required: true, contentType: 'application/json', jsonSchema: { type: 'string' } },
      output: { contentType: 'text/plain', setContentTypeIfEmpty: true, jsonSchema: true },
      documentation: 'd',
      metadata: { a: 'b' },
      inactivityTimeout: 1,
      abortTimeout: 2,
      journalRetention: 3,
      workflowCompletionRetention: 4,
      enableLazyState: true,
      ingressPrivate: true,
      retryPolicyInitialInterval: 5,
      retryPolicyMaxInterval: 6,
      retryPolicyMaxAttempts: 0,
      retryPolicyExponentiationFactor: 1.5,
      retryPolicyOnMaxAttempts: 'KILL',
    };
    const service = { name: 'Wf', ty: 'WORKFLOW', handlers: [handler], idempotencyRetention: 9 };
    const manifest = root({ lambdaCompression: 'zstd', services: [service] });
    expect(discovered(manifest, { sdkVersion: 'restate-sdk-typescript/1.17.2' })).toEqual({
      kind: 'discovered',
      protocolMode: 'bidi-stream',
      minProtocolVersion: 5,
      maxProtocolVersion: 7,
      sdkVersion: 'restate-sdk-typescript/1.17.2',
      functionCompression: 'zstd',
      services: [
        {
          name: 'Wf',
          type: 'workflow',
          ingressPrivate: false,
          documentation: undefined,
          metadata: {},
          options: { idempotencyRetentionMs: 9 },
          handlers: [
            {
              name: 'run',
              type: 'workflow',
              input: {
                required: true,
                contentType: 'application/json',
                jsonSchema: { type: 'string' },
              },
              output: { contentType: 'text/plain', setContentTypeIfEmpty: true, jsonSchema: true },
              ingressPrivate: true,
              documentation: 'd',
              metadata: { a: 'b' },
              options: {
                inactivityTimeoutMs: 1,
                abortTimeoutMs: 2,
                journalRetentionMs: 3,
                workflowCompletionRetentionMs: 4,
                enableLazyState: true,
                retryPolicy: {
                  initialIntervalMs: 5,
                  maxIntervalMs: 6,
                  maxAttempts: 1,
                  exponentiationFactor: 1.5,
                  onMaxAttempts: 'kill',
                },
              },
            },
          ],
        },
      ],
    });
  });

  it.each([
    ['SERVICE', undefined, undefined],
    ['SERVICE', 'SHARED', undefined],
    ['VIRTUAL_OBJECT', undefined, 'exclusive'],
    ['VIRTUAL_OBJECT', 'SHARED', 'shared'],
    ['VIRTUAL_OBJECT', 'EXCLUSIVE', 'exclusive'],
    ['WORKFLOW', undefined, 'shared'],
    ['WORKFLOW', 'SHARED', 'shared'],
    ['WORKFLOW', 'WORKFLOW', 'workflow'],
  ])('a handler of a %s that says %p is %p', (service, said, type) => {
    const result = discovered(withHandler({ ty: said }, { ty: service }));
    expect(result.services[0]?.handlers[0]?.type).toBe(type);
  });

  it.each([
    ['older versions of the manifest', withHandler({ journalRetention: 1 }), { contentType: V(1) }],
    ['null for absent scalars', withHandler({ documentation: null, input: null, ty: null }), {}],
    ['ranges that overlap below', root({ minProtocolVersion: 3, maxProtocolVersion: 5 }), {}],
    ['ranges that overlap above', root({ minProtocolVersion: 6, maxProtocolVersion: 99 }), {}],
    [
      'lambdas that answer at the end',
      root({ protocolMode: 'REQUEST_RESPONSE' }),
      { canStreamBothWays: false },
    ],
    ['input of any type', withHandler({ input: { contentType: '*/*' } }), {}],
    ['input of a family', withHandler({ input: { contentType: 'text/*' } }), {}],
    [
      'an internal reference',
      withHandler({ input: { jsonSchema: { $ref: '#/$defs/a', $defs: { a: {} } } } }),
      {},
    ],
  ])('accepts %s', (_what, manifest, overrides) => {
    expect(discover(manifest, overrides).kind).toBe('discovered');
  });

  it('takes the last of equal names', () => {
    const services = [
      { name: 'S', ty: 'SERVICE', handlers: [] },
      { name: 'S', ty: 'WORKFLOW', handlers: [{ name: 'h' }, { name: 'h', ty: 'WORKFLOW' }] },
    ];
    const result = discovered(root({ services }));
    expect(result.services).toHaveLength(1);
    expect(result.services[0]?.handlers).toMatchObject([{ type: 'workflow' }]);
  });
});

describe('refused manifests', () => {
  const refused: [string, unknown, Overrides, number, string | undefined][] = [
    ['no content type', root(), { contentType: undefined }, 500, 'META0013'],
    [
      'a content type with parameters',
      root(),
      { contentType: `${V(4)}; charset=utf-8` },
      500,
      'META0013',
    ],
    ['version 5 of the manifest', root(), { contentType: V(5) }, 500, 'META0013'],
    ['no protocol mode', root({ protocolMode: undefined }), {}, 500, 'META0013'],
    ['min above max', root({ minProtocolVersion: 7, maxProtocolVersion: 6 }), {}, 500, 'META0013'],
    ['a huge version', root({ maxProtocolVersion: 2147483648 }), {}, 500, 'META0013'],
    ['no JSON', '{', {}, 500, undefined],
    ['a list', '[]', {}, 500, undefined],
    ['an unknown member', root({ more: 1 }), {}, 500, undefined],
    ['version 0', root({ minProtocolVersion: 0 }), {}, 500, undefined],
    ['no services', root({ services: undefined }), {}, 500, undefined],
    ['a fraction of a millisecond', withService({ abortTimeout: 1.5 }), {}, 500, undefined],
    ['a negative duration', withService({ abortTimeout: -1 }), {}, 500, undefined],
    ['metadata that is null', withService({ metadata: null }), {}, 500, undefined],
    [
      'a retention that services lack',
      withService({ workflowCompletionRetention: 1 }),
      {},
      500,
      undefined,
    ],
    ['an unknown service type', withService({ ty: 'OBJECT' }), {}, 500, undefined],
    ['a bad service name', withService({ name: '1a' }), {}, 500, undefined],
    ['a dot in a handler name', withHandler({ name: 'a.b' }), {}, 500, undefined],
    [
      'versions that are too old',
      root({ minProtocolVersion: 1, maxProtocolVersion: 4 }),
      {},
      500,
      'META0012',
    ],
    [
      'versions that are too new',
      root({ minProtocolVersion: 8, maxProtocolVersion: 9 }),
      {},
      500,
      'META0012',
    ],
    [
      'an SDK that overstates',
      root({ minProtocolVersion: 1 }),
      { sdkVersion: 'restate-sdk-typescript/1.1.3' },
      500,
      'META0012',
    ],
    ['streams over a lambda', root(), { canStreamBothWays: false }, 500, 'META0015'],
    ['a reserved prefix', withService({ name: 'ReStateThing' }), {}, 400, 'META0005'],
    ['the own prefix', withService({ name: 'engineX' }), {}, 400, 'META0005'],
    ['a reserved name', withService({ name: 'OpenAPI' }), {}, 400, 'META0005'],
    ['an exclusive handler of a service', withHandler({ ty: 'EXCLUSIVE' }), {}, 400, undefined],
    [
      'a workflow handler of an object',
      withHandler({ ty: 'WORKFLOW' }, { ty: 'VIRTUAL_OBJECT' }),
      {},
      400,
      undefined,
    ],
    [
      'an exclusive handler of a workflow',
      withHandler({ ty: 'EXCLUSIVE' }, { ty: 'WORKFLOW' }),
      {},
      400,
      undefined,
    ],
    [
      'workflow retention elsewhere',
      withHandler({ workflowCompletionRetention: 1 }),
      {},
      400,
      undefined,
    ],
    [
      'idempotency retention of a run',
      withHandler({ ty: 'WORKFLOW', idempotencyRetention: 1 }, { ty: 'WORKFLOW' }),
      {},
      400,
      undefined,
    ],
    [
      'a public handler in private',
      withHandler({ ingressPrivate: false }, { ingressPrivate: true }),
      {},
      400,
      undefined,
    ],
    [
      'an input type without a slash',
      withHandler({ input: { contentType: 'json' } }),
      {},
      400,
      undefined,
    ],
    ['an input type */x', withHandler({ input: { contentType: '*/x' } }), {}, 400, undefined],
    [
      'an output type that is no header',
      withHandler({ output: { contentType: 'a\nb' } }),
      {},
      400,
      undefined,
    ],
    [
      'a schema that is none',
      withHandler({ input: { jsonSchema: { type: 'text' } } }),
      {},
      400,
      undefined,
    ],
    ['a schema that is a number', withHandler({ output: { jsonSchema: 1 } }), {}, 400, undefined],
    [
      'an external reference',
      withHandler({ input: { jsonSchema: { items: { $ref: 'http://a/b' } } } }),
      {},
      400,
      undefined,
    ],
  ];
  it.each(refused)('refuses %s', (_what, manifest, overrides, httpStatus, code) => {
    expect(discover(manifest, overrides)).toMatchObject({ kind: 'refused', httpStatus, code });
  });

  it('names the place', () => {
    const refusal = discover(withHandler({ abortTimeout: 'x' }));
    expect(refusal.kind === 'refused' && refusal.message).toContain(
      'services[0].handlers[0].abortTimeout',
    );
  });

  it('refuses a schema that is too deep to be stored, also where no schema is expected', () => {
    const deep = (levels: number): unknown =>
      JSON.parse('[{"a":'.repeat(levels / 2) + '1' + '}]'.repeat(levels / 2));
    for (const keyword of ['default', 'enum', 'examples', 'x']) {
      const schemaOf = (levels: number): object =>
        withHandler({ input: { jsonSchema: { [keyword]: [deep(levels)] } } });
      expect(discover(schemaOf(990))).toMatchObject({ kind: 'discovered' });
      expect(discover(schemaOf(1_000))).toMatchObject({ kind: 'refused', httpStatus: 400 });
    }
    const text = `{"default":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    const manifest = JSON.stringify(withHandler({ input: { jsonSchema: 'SCHEMA' } }));
    const refused = discover(manifest.replace('"SCHEMA"', text));
    expect(refused).toMatchObject({
      kind: 'refused',
      message: 'bad JSON schema at S/h input: nested too deep',
    });
  });

  it('never throws, whatever the JSON', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(discover(json).kind).toBe('refused');
        expect(
          discover(withHandler({ input: { jsonSchema: JSON.parse(json) as unknown } })).kind,
        ).toBeDefined();
      }),
    );
  });
});
