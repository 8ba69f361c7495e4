/**
 * Golden documents: `testing/openapi/*.json`. Run with UPDATE_SCENARIOS=1 to write them anew (then prettier), and review the
 * difference.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { HandlerSchema, ServiceSchema } from '@engine/domain';
import { serviceOpenapi } from './service-openapi.js';

const INGRESS = 'http://127.0.0.1:8080/';
const JSON_TYPE = 'application/json';
const ORDER = {
  type: 'object',
  properties: { lines: { type: 'array', items: { $ref: '#/$defs/Line' } } },
  $defs: { Line: { type: 'object', properties: { article: { type: 'string' } } } },
};

function handler(name: string, more: Partial<HandlerSchema> = {}): HandlerSchema {
  return {
    name,
    type: undefined,
    input: { required: false, contentType: JSON_TYPE, jsonSchema: undefined },
    output: { contentType: JSON_TYPE, setContentTypeIfEmpty: false, jsonSchema: undefined },
    ingressPrivate: undefined,
    documentation: undefined,
    metadata: {},
    options: {},
    ...more,
  };
}

function service(more: Partial<ServiceSchema> & Pick<ServiceSchema, 'handlers'>): ServiceSchema {
  return {
    name: 'Orders',
    type: 'service',
    revision: 1,
    ingressPrivate: false,
    documentation: undefined,
    metadata: {},
    options: {},
    ...more,
  };
}

const PLAIN = service({
  revision: 3,
  documentation: 'Takes orders.',
  metadata: { team: 'shop' },
  handlers: [
    handler('place', {
      documentation: 'Places an order.',
      metadata: { tier: 'gold' },
      input: { required: true, contentType: JSON_TYPE, jsonSchema: ORDER },
      output: {
        contentType: JSON_TYPE,
        setContentTypeIfEmpty: false,
        jsonSchema: { type: 'string', title: 'Receipt' },
      },
    }),
    handler('upload', {
      input: { required: false, contentType: 'image/*', jsonSchema: undefined },
      output: { contentType: undefined, setContentTypeIfEmpty: false, jsonSchema: undefined },
    }),
    handler('audit', { ingressPrivate: true }),
  ],
});

const OBJECT = service({
  name: 'Counter',
  type: 'virtual-object',
  handlers: [
    handler('add', { type: 'exclusive', input: undefined, output: undefined }),
    handler('get', {
      type: 'shared',
      input: { required: false, contentType: undefined, jsonSchema: undefined },
    }),
  ],
});

const WORKFLOW = service({
  name: 'Signup',
  type: 'workflow',
  ingressPrivate: true,
  handlers: [handler('run', { type: 'workflow' }), handler('confirm', { type: 'shared' })],
});

/** As callers get it. */
const documentOf = (of: ServiceSchema, ingress = INGRESS): Record<string, unknown> =>
  JSON.parse(JSON.stringify(serviceOpenapi(of, ingress))) as Record<string, unknown>;

const pathsOf = (of: ServiceSchema): Record<string, unknown> =>
  documentOf(of)['paths'] as Record<string, unknown>;

/** What is wrong with a document; undefined when it is right. */
async function faultOf(document: object): Promise<unknown> {
  const child = fork(new URL('../testing/openapi-validator.mjs', import.meta.url));
  const answered = once(child, 'message');
  child.send(document);
  const [{ valid, errors }] = (await answered) as [{ valid: boolean; errors?: unknown }];
  return valid ? undefined : (errors ?? 'invalid');
}

const GOLDEN = [
  ['service', PLAIN],
  ['object', OBJECT],
  ['workflow', WORKFLOW],
] as const;

describe('the OpenAPI document', () => {
  it.each(GOLDEN)('of a %s is as agreed', (name, of) => {
    const path = join(import.meta.dirname, '..', 'testing', 'openapi', `${name}.json`);
    const document = documentOf(of);
    if (process.env['UPDATE_SCENARIOS'] === '1') writeFileSync(path, JSON.stringify(document));
    expect(document).toEqual(JSON.parse(readFileSync(path, 'utf8')));
  });

  it.each(GOLDEN)(
    'of a %s is valid OpenAPI 3.1',
    async (_name, of) => {
      expect(await faultOf(documentOf(of))).toBeUndefined();
    },
    30_000,
  );

  it('the validator finds a reference that leads nowhere, and a wrong member', async () => {
    const document = documentOf(PLAIN);
    expect(await faultOf({ ...document, components: {} })).toMatch(/Can't resolve/);
    expect(await faultOf({ ...document, servers: 'none' })).toBeDefined();
  }, 30_000);

  it('leaves out private handlers and their schemas, but not those of a private service', () => {
    const secret = { type: 'object' };
    const hidden = handler('hidden', {
      ingressPrivate: true,
      input: { required: true, contentType: JSON_TYPE, jsonSchema: secret },
    });
    const document = documentOf(
      service({ ingressPrivate: true, handlers: [hidden, handler('go')] }),
    );
    expect(JSON.stringify(document)).not.toContain('hidden');
    expect(Object.keys(document['paths'] as object)).toContain('/engine/call/Orders/go');
  });

  it('names a result path of a workflow for its run handler only', () => {
    const run = handler('start', { type: 'workflow' });
    const flow = service({
      type: 'workflow',
      handlers: [run, handler('confirm', { type: 'shared' })],
    });
    expect(Object.keys(pathsOf(flow))).toEqual([
      '/engine/call/Orders/{key}/start',
      '/engine/send/Orders/{key}/start',
      '/engine/workflow/Orders/{key}/attach',
      '/engine/workflow/Orders/{key}/output',
      '/engine/call/Orders/{key}/confirm',
      '/engine/send/Orders/{key}/confirm',
    ]);
  });

  it('names no server when the ingress is a unix socket', () => {
    expect(documentOf(PLAIN, 'unix:/run/engine.sock')).not.toHaveProperty('servers');
  });

  it('is valid when two handlers show the same schema with an id', async () => {
    const jsonSchema = { ...ORDER, $id: 'https://example.com/order' };
    const input = { required: true, contentType: JSON_TYPE, jsonSchema };
    const twice = service({ handlers: [handler('a', { input }), handler('b', { input })] });
    expect(await faultOf(documentOf(twice))).toBeUndefined();
  }, 30_000);
});
