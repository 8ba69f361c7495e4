import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { register } from './register.js';
import { startScreen, type StartScreen } from './start-screen.js';

const screen: StartScreen = {
  version: '1.2.3',
  pid: 42,
  ingressPort: 18_080,
  adminPort: 19_070,
  exampleUri: 'http://127.0.0.1:9080',
  registration: { services: ['Greeter', 'Counter', 'Signup'], isNew: true },
  baseDir: '/home/ann/my data',
};

describe('start screen', () => {
  it('shows where things are and three commands that can be copied', () => {
    const text = startScreen(screen);
    expect(text.match(/^ +curl localhost:18080\/engine\/call\/.*$/gm)).toHaveLength(3);
    expect(text).toContain('Greeter, Counter, Signup (registered just now)');
    expect(text).toContain("rm -rf '/home/ann/my data'");
    expect(text).toContain('kill -9 42');
  });

  it('says that a second start found the deployment registered', () => {
    const registration = { services: ['Greeter'], isNew: false };
    expect(startScreen({ ...screen, registration })).toContain('(was registered already)');
  });
});

describe('register', () => {
  const uri = 'http://127.0.0.1:9080';
  const services = [{ name: 'Greeter', revision: 1 }];

  type Answer = readonly [status: number, body: object];
  async function withAdmin(
    answers: { readonly post: Answer; readonly list?: Answer },
    use: (url: string) => Promise<void>,
  ): Promise<void> {
    const server = createServer((request, response) => {
      const [status, body] = (request.method === 'GET' ? answers.list : answers.post) ?? [404, {}];
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }).listen(0);
    await once(server, 'listening');
    try {
      await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    } finally {
      server.close();
    }
  }

  it.each([
    [201, true],
    [200, false],
  ])('reads status %i as new: %s', (status, isNew) =>
    withAdmin({ post: [status, { id: 'dp_1', services }] }, async (url) => {
      await expect(register(url, uri)).resolves.toEqual({ services: ['Greeter'], isNew });
    }),
  );

  it('takes META0004 for "registered already"', () =>
    withAdmin(
      {
        post: [409, { message: 'exists', engine_code: 'META0004' }],
        list: [200, { deployments: [{ uri: 'http://x/' }, { uri: `${uri}/`, services }] }],
      },
      async (url) => {
        await expect(register(url, uri)).resolves.toEqual({ services: ['Greeter'], isNew: false });
      },
    ));

  it('gives the reason of a refusal', () =>
    withAdmin(
      { post: [500, { message: 'no discovery', engine_code: 'META0003' }] },
      async (url) => {
        await expect(register(url, uri)).rejects.toThrow('no discovery');
      },
    ));
});
