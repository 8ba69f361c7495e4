import { beforeEach, describe, expect, it } from '@jest/globals';

import {
  DEFAULT_RETRY_POLICY,
  EMPTY_SCHEMA,
  type Deployment,
  type DeploymentId,
  type EngineError,
  type HandlerDefaults,
  type Schema,
} from '@engine/domain';
import { encodeUtf8 } from '@engine/stdx';

import { decodeSchema, encodeSchema, SCHEMA_DOCUMENT } from './documents/schema.js';
import { MemoryMetadataStore } from './memory-metadata-store.js';
import type { ExpectedVersion } from './metadata-store.js';
import { SchemaRegistry } from './schema-registry.js';

const defaults: HandlerDefaults = {
  inactivityTimeoutMs: 1,
  abortTimeoutMs: 2,
  journalRetentionMs: 3,
  idempotencyRetentionMs: 4,
  workflowCompletionRetentionMs: 5,
  retryPolicy: DEFAULT_RETRY_POLICY,
};

function deployment(id: string): Deployment {
  return {
    id: id as DeploymentId,
    endpoint: { kind: 'http', uri: 'http://localhost:9080/', httpVersion: 'HTTP/2.0' },
    protocolMode: 'bidi-stream',
    additionalHeaders: { 'x-a': 'b' },
    metadata: {},
    createdAt: 1_700_000_000_000,
    minProtocolVersion: 5,
    maxProtocolVersion: 7,
    sdkVersion: undefined,
    services: [
      {
        name: 'Echo',
        type: 'virtual-object',
        revision: 1,
        handlers: [
          {
            name: 'echo',
            type: 'exclusive',
            input: { required: true, contentType: undefined, jsonSchema: { default: null } },
            output: { contentType: 'a/b', setContentTypeIfEmpty: false, jsonSchema: undefined },
            ingressPrivate: undefined,
            documentation: 'says it again',
            metadata: { a: 'b' },
            options: { enableLazyState: true, retryPolicy: { maxAttempts: 3 } },
          },
          {
            name: 'get',
            type: 'shared',
            input: undefined,
            output: undefined,
            ingressPrivate: true,
            documentation: undefined,
            metadata: {},
            options: {},
          },
        ],
        ingressPrivate: false,
        documentation: undefined,
        metadata: {},
        options: { journalRetentionMs: 0 },
      },
    ],
  };
}

const schema: Schema = { deployments: [deployment('dp_1a'), deployment('dp_1b')] };
const add =
  (id: string) =>
  ({ deployments }: Schema): Schema => ({ deployments: [...deployments, deployment(id)] });
const idsOf = ({ deployments }: Schema): string[] => deployments.map(({ id }) => id);

describe('the schema document', () => {
  it('comes back as it was written', () => {
    expect(decodeSchema(encodeSchema(schema))).toEqual(schema);
    expect(decodeSchema(encodeSchema(EMPTY_SCHEMA))).toEqual(EMPTY_SCHEMA);
  });

  it('a schema that JSON cannot hold is refused before it is stored', () => {
    const [first] = schema.deployments;
    const endless = { ...(first as Deployment), createdAt: Infinity };
    const code = expect.objectContaining({ code: 'META0005' });
    expect(() => encodeSchema({ deployments: [endless] })).toThrow(code);
    const { services } = first as Deployment;
    const [service] = services;
    const [handler] = service?.handlers ?? [];
    const jsonSchema: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
    const input = { required: false, contentType: undefined, jsonSchema };
    const deep = { ...service, handlers: [{ ...handler, input }] } as Deployment['services'][0];
    const tooDeep = { ...(first as Deployment), services: [deep] };
    expect(() => encodeSchema({ deployments: [tooDeep] })).toThrow(code);
  });

  it.each([
    '',
    '{}',
    '{"version":0,"deployments":[]}',
    '{"version":2,"deployments":[],"more":1}',
    '{"version":2,"deployments":[{"id":"dp_1a"}]}',
  ])('META0005 for %s', (text) => {
    const code = expect.objectContaining({ code: 'META0005' });
    expect(() => decodeSchema(encodeUtf8(text))).toThrow(code);
  });

  it('META0010 for a document of a newer server, whatever else is in it', () => {
    const code = expect.objectContaining({ code: 'META0010' });
    expect(() => decodeSchema(encodeUtf8('{"version":3,"moved":true}'))).toThrow(code);
  });

  it('reads version 1, in which every deployment was reached over HTTP', () => {
    const deployments = schema.deployments.map(({ endpoint, ...rest }) => {
      const { uri, httpVersion } = endpoint as Extract<Deployment['endpoint'], { kind: 'http' }>;
      return { ...rest, uri, httpVersion };
    });
    const old = encodeUtf8(JSON.stringify({ version: 1, deployments }));
    expect(decodeSchema(old)).toEqual(schema);
    expect(decodeSchema(encodeSchema(decodeSchema(old)))).toEqual(schema);
  });
});

describe('SchemaRegistry', () => {
  let store: MemoryMetadataStore;
  let unreadable: EngineError[];
  const open = (on = store) =>
    SchemaRegistry.open(defaults, { store: on, onUnreadable: (error) => unreadable.push(error) });

  beforeEach(() => {
    store = new MemoryMetadataStore();
    unreadable = [];
  });

  it('begins empty, and finds what was registered before', async () => {
    using first = await open();
    expect(first.current.schema).toEqual(EMPTY_SCHEMA);
    const lookup = await first.update(add('dp_1a'));
    expect(lookup).toBe(first.current);
    using second = await open();
    expect(second.current.schema).toEqual(first.current.schema);
  });

  it('updates of several registries all take effect', async () => {
    using a = await open();
    using b = await open();
    await Promise.all([
      ...['1', '2', '3'].map((n) => a.update(add(`dp_a${n}`))),
      ...['1', '2', '3'].map((n) => b.update(add(`dp_b${n}`))),
    ]);
    using c = await open();
    const ids = idsOf(c.current.schema).sort();
    expect(ids).toEqual(['dp_a1', 'dp_a2', 'dp_a3', 'dp_b1', 'dp_b2', 'dp_b3']);
  });

  it('hears of changes by others', async () => {
    using a = await open();
    using b = await open();
    const heard = new Promise<string[]>((resolve) => {
      b.onChange((lookup) => {
        resolve(idsOf(lookup.schema));
      });
    });
    await a.update(add('dp_1a'));
    expect(await heard).toEqual(['dp_1a']);
    expect(idsOf(b.current.schema)).toEqual(['dp_1a']);
  });

  it('a change that throws or changes nothing writes nothing', async () => {
    using registry = await open();
    const refuse = () => {
      throw new Error('no');
    };
    await expect(registry.update(refuse)).rejects.toThrow('no');
    await registry.update((same) => same);
    expect(await store.get(SCHEMA_DOCUMENT)).toBeUndefined();
  });

  it('gives up with a code when others are faster every time', async () => {
    class RacingStore extends MemoryMetadataStore {
      override async put(name: string, value: Uint8Array, expected: ExpectedVersion) {
        await super.put(name, encodeSchema(EMPTY_SCHEMA), expected);
        return super.put(name, value, expected);
      }
    }
    using registry = await open(new RacingStore());
    const code = expect.objectContaining({ code: 'conflict' });
    await expect(registry.update(add('dp_1a'))).rejects.toThrow(code);
  });

  it('keeps the last good schema when a newer document cannot be read', async () => {
    using registry = await open();
    await registry.update(add('dp_1a'));
    const version = (await store.get(SCHEMA_DOCUMENT))?.version as bigint;
    const told = new Promise<void>((resolve) => {
      store.watch(SCHEMA_DOCUMENT, (entry) => {
        if (entry.version > version) resolve();
      });
    });
    await store.put(SCHEMA_DOCUMENT, encodeUtf8('{"version":3}'), version);
    await told;
    expect(unreadable).toMatchObject([{ code: 'META0010' }]);
    expect(idsOf(registry.current.schema)).toEqual(['dp_1a']);
  });
});
