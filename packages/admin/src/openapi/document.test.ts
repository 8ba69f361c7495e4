import { fork } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { z } from 'zod';
import type { AdminContext } from '../context.js';
import { DEFAULT_ADMIN_CONFIG } from '../config-shape.js';
import { INTERFACE, VERSIONS } from '../dialect.js';
import { routesOf } from '../http/app.js';
import { AdminFixture } from '../testing/admin-fixture.js';
import { FakeEndpoint, service } from '../testing/fake-endpoint.js';
import { OPERATIONS, routeName } from './document.js';
import { TAGS } from './operation.js';
import * as shapes from './shapes.js';

/** Served, but no part of the interface for others. */
const UNDOCUMENTED = [/^GET \/openapi$/, / \/internal\//];

interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
}

interface DocumentedOperation {
  readonly tags: readonly string[];
  readonly operationId: string;
  readonly responses: Readonly<Record<string, unknown>>;
}

let admin: AdminFixture;

beforeEach(async () => {
  admin = await AdminFixture.start();
});

afterEach(() => admin[Symbol.asyncDispose]());

async function documentOf(prefix: string): Promise<Document> {
  return (await admin.ask('GET', `${prefix}/openapi`)).json as unknown as Document;
}

// Routes are made without asking anything of the context but its settings.
const context = { config: DEFAULT_ADMIN_CONFIG } as AdminContext;
const DIALECTS = [
  ['', INTERFACE],
  ...VERSIONS.map(({ version, dialect }) => [`/v${String(version)}`, dialect] as const),
] as const;

describe('the document of the admin', () => {
  it.each(DIALECTS)('%s has exactly what is served', async (prefix, dialect) => {
    const served = routesOf(context, dialect)
      .map(routeName)
      .filter((name) => !UNDOCUMENTED.some((pattern) => pattern.test(name)))
      .map((name) => name.replace(/:\w+/g, '{}'));
    const { paths, servers } = await documentOf(prefix);
    const documented = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replace(/{\w+}/g, '{}')}`),
    );
    expect(documented.sort()).toEqual(served.sort());
    expect(servers).toEqual([{ url: prefix === '' ? '/' : prefix }]);
  });

  it('describes nothing that no dialect serves', () => {
    const served = new Set(
      DIALECTS.flatMap(([, dialect]) => routesOf(context, dialect).map(routeName)),
    );
    expect(Object.keys(OPERATIONS).filter((name) => !served.has(name))).toEqual([]);
  });

  it('is valid, in the version that the server says of itself', async () => {
    const document = await documentOf('');
    const { version } = (await admin.ask('GET', '/version')).json;
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version } });
    expect(document).not.toHaveProperty('security');
    expect(document.tags.map(({ name }) => name)).toEqual(TAGS.map(([name]) => name));
    const child = fork(new URL('../testing/openapi-validator.mjs', import.meta.url));
    child.send(document);
    const [outcome] = (await once(child, 'message')) as [unknown];
    expect(outcome).toEqual({ valid: true });
  });

  it('names each operation once, and its errors', async () => {
    const { paths } = await documentOf('');
    const operations = Object.values(paths).flatMap((item) => Object.values(item));
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { responses } of operations) {
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['405', '500']));
    }
    const handler = paths['/services/{service}/handlers/{handler}']?.['get'];
    expect(Object.keys(handler?.responses ?? {})).toEqual([
      ...['200', '400', '404', '405', '409', '500'],
    ]);
  });
});

describe('real answers have the shapes of the document:', () => {
  const cases: readonly (readonly [string, string, z.ZodType])[] = [
    ['GET', '/version', shapes.versionShape],
    ['GET', '/cluster-health', shapes.clusterHealthShape],
    ['GET', '/deployments', shapes.deploymentListShape],
    ['GET', '/deployments/{id}', shapes.deploymentShape],
    ['GET', '/services', shapes.serviceListShape],
    ['GET', '/services/Flow', shapes.serviceShape],
    ['PATCH', '/services/Flow', shapes.serviceShape],
    ['GET', '/services/Flow/handlers', shapes.handlerListShape],
    ['GET', '/services/Flow/handlers/run', shapes.handlerShape],
    ['GET', '/services/Nobody', shapes.errorShape],
    ['POST', '/deployments', shapes.registrationShape],
    ['GET', '/batch-operations', shapes.batchListShape],
  ];

  it.each(cases)('%s %s', async (method, path, shape) => {
    const options = {
      inactivityTimeout: 1_000,
      retryPolicyMaxAttempts: 5,
      retryPolicyOnMaxAttempts: 'KILL',
      metadata: { a: 'b' },
      documentation: 'About it.',
    };
    const run = { name: 'run', ty: 'WORKFLOW', input: { jsonSchema: { type: 'string' } } };
    await using endpoint = await FakeEndpoint.start('h2', {
      manifest: {
        protocolMode: 'REQUEST_RESPONSE',
        services: [
          service('Svc'),
          service('Flow', { ty: 'WORKFLOW', ...options, handlers: [{ ...run, ...options }] }),
        ],
      },
    });
    const body = { uri: endpoint.uri, force: true, additional_headers: { a: 'b' } };
    const { json } = await admin.ask('POST', '/deployments', body);
    const asked = path.replace('{id}', String(json['id']));
    const given = { POST: body, PATCH: { abort_timeout: '5m' } }[method];
    const reply = await admin.ask(method, asked, given);
    expect(shape.parse(reply.json)).toEqual(reply.json);
  });
});
