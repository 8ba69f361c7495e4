import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import type { EngineError } from '@engine/domain';
import { seededRandom } from '@engine/runtime';
import { HURRIED } from '../testing/hurried.js';
import {
  FakeEndpoint,
  service,
  type FakeAnswer,
  type Transport,
} from '../testing/fake-endpoint.js';
import { createDiscover, type DiscoverOptions } from './discover.js';

const discover = createDiscover({
  clusterName: 'test',
  functions: { invoke: () => Promise.reject(new Error('no function is asked')) },
  signer: undefined,
  scheduler: HURRIED,
  random: seededRandom(1),
});
const options = (
  uri: string,
  more: { readonly useHttp11?: boolean; readonly additionalHeaders?: Record<string, string> } = {},
): DiscoverOptions => ({
  destination: { kind: 'http', uri, useHttp11: more.useHttp11 ?? false },
  additionalHeaders: more.additionalHeaders ?? {},
});

async function codeOf(asked: Promise<unknown>): Promise<string> {
  try {
    await asked;
    return 'no error';
  } catch (error) {
    return (error as EngineError).code;
  }
}

describe('discovery asks', () => {
  it('over HTTP/2 with prior knowledge, with exactly the headers of the protocol', async () => {
    await using endpoint = await FakeEndpoint.start('h2', {
      manifest: { services: [service('A')] },
    });
    const found = await discover(
      options(`${endpoint.uri}pre/fix?q=1`, { additionalHeaders: { 'x-secret': 's' } }),
    );
    expect(found.endpoint).toHaveProperty('httpVersion', 'HTTP/2.0');
    expect(found.discovery.services.map(({ name }) => name)).toEqual(['A']);
    const [request] = endpoint.requests;
    expect(request?.path).toBe('/pre/fix/discover?q=1');
    const headers = Object.fromEntries(Object.entries(request?.headers ?? {}));
    delete headers[':authority'];
    const accept = [1, 2, 3, 4].map(
      (n) => `application/vnd.restate.endpointmanifest.v${String(n)}+json`,
    );
    expect(headers).toEqual({
      ':method': 'GET',
      ':path': '/pre/fix/discover?q=1',
      ':scheme': 'http',
      accept: accept.join(', '),
      'x-secret': 's',
      'x-restate-cluster-name': 'test',
    });
  });

  it('over HTTP/1.1 when told to, with the credentials of the uri', async () => {
    await using endpoint = await FakeEndpoint.start('h1', {
      headers: { 'x-restate-server': 'kit/1' },
    });
    const uri = endpoint.uri.replace('//', '//user:p%40ss@');
    const found = await discover(options(uri, { useHttp11: true }));
    expect(found.endpoint).toHaveProperty('httpVersion', 'HTTP/1.1');
    expect(found.discovery.sdkVersion).toBe('kit/1');
    expect(endpoint.requests[0]?.headers['authorization']).toBe(
      `Basic ${Buffer.from('user:p@ss').toString('base64')}`,
    );
  });

  it('again after a failure that may pass', async () => {
    await using endpoint = await FakeEndpoint.start('h2');
    endpoint.answer = () => ({ status: endpoint.requests.length < 4 ? 503 : 200 });
    await discover(options(endpoint.uri));
    expect(endpoint.requests).toHaveLength(4);
  });

  it('five times, then gives up', async () => {
    await using endpoint = await FakeEndpoint.start('h1', { status: 429 });
    expect(await codeOf(discover(options(endpoint.uri, { useHttp11: true })))).toBe('META0003');
    expect(endpoint.requests).toHaveLength(5);
  });
});

describe('discovery refuses', () => {
  const cases: [string, Transport, FakeAnswer, string][] = [
    ['status 404', 'h2', { status: 404 }, 'META0003'],
    ['status 401', 'h2', { status: 401 }, 'META0003'],
    [
      'no common version',
      'h2',
      { manifest: { minProtocolVersion: 1, maxProtocolVersion: 3 } },
      'META0012',
    ],
    ['an unknown content type', 'h2', { contentType: 'application/json' }, 'META0013'],
    ['no content type', 'h2', { contentType: '' }, 'META0013'],
    [
      'min above max',
      'h2',
      { manifest: { minProtocolVersion: 7, maxProtocolVersion: 5 } },
      'META0013',
    ],
    ['a peer that speaks HTTP/1.1 only', 'h1', {}, 'META0014'],
    ['a text that is no manifest', 'h2', { body: 'hello' }, 'internal'],
    ['a reserved name', 'h2', { manifest: { services: [service('RestateX')] } }, 'META0005'],
    [
      'a broken rule',
      'h2',
      { manifest: { services: [service('A', { handlers: [{ name: 'x', ty: 'EXCLUSIVE' }] })] } },
      'bad-request',
    ],
  ];
  it.each(cases)('%s', async (_name, transport, answer, code) => {
    await using endpoint = await FakeEndpoint.start(transport, answer);
    expect(await codeOf(discover(options(endpoint.uri)))).toBe(code);
    expect(endpoint.requests.length).toBeLessThan(2);
  });

  it('streams over HTTP/1.0', async () => {
    await using endpoint = await FakeEndpoint.start('http/1.0');
    expect(await codeOf(discover(options(endpoint.uri, { useHttp11: true })))).toBe('META0015');
  });

  it('HTTP/1.1 to a peer that speaks HTTP/2 only', async () => {
    await using endpoint = await FakeEndpoint.start('h2');
    expect(await codeOf(discover(options(endpoint.uri, { useHttp11: true })))).toBe('META0003');
  });

  it.each(['h2', 'h1'] as const)('a port where nobody listens, %s', async (transport) => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    server.close();
    await once(server, 'close');
    const asked = discover(
      options(`http://127.0.0.1:${String(port)}/`, { useHttp11: transport === 'h1' }),
    );
    expect(await codeOf(asked)).toBe('META0003');
  });

  it('headers that HTTP/2 forbids', async () => {
    await using endpoint = await FakeEndpoint.start('h2');
    const asked = discover(options(endpoint.uri, { additionalHeaders: { connection: 'close' } }));
    expect(await codeOf(asked)).toBe('META0003');
  });
});

describe('discovery of the real SDK', () => {
  it('finds its services', async () => {
    const child = fork(new URL('../testing/sdk-endpoint.mjs', import.meta.url));
    try {
      const [{ port }] = (await once(child, 'message')) as [{ port: number }];
      const { discovery, endpoint } = await discover(options(`http://127.0.0.1:${String(port)}/`));
      expect(endpoint).toHaveProperty('httpVersion', 'HTTP/2.0');
      expect(discovery.sdkVersion).toMatch(/^restate-sdk-typescript\//);
      expect(discovery.services.map(({ name, type }) => [name, type])).toEqual([
        ['Greeter', 'service'],
        ['Counter', 'virtual-object'],
        ['Flow', 'workflow'],
      ]);
    } finally {
      child.kill();
    }
  }, 30_000);
});
