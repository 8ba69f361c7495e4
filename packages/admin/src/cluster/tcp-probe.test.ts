import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';

import { probeTcp } from './tcp-probe.js';

it('tells a port that listens from one that refuses', async () => {
  const server = createServer((socket) => socket.destroy());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const address = `127.0.0.1:${String(port)}`;
  expect(await probeTcp(address)).toBe('reached');
  server.close();
  await once(server, 'close');
  expect(await probeTcp(address)).toBe('refused');
});

it('says nothing of a host that does not exist', async () => {
  expect(await probeTcp('no-such-host.invalid:1')).toBe('silent');
});
