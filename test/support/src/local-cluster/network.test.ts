import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { Child } from '../child.js';
import { freePort } from '../free-port.js';
import { waitUntil } from '../wait-until.js';
import { Network } from './network.js';

// A server that counts what it gets, and a client that sends a byte every few milliseconds.
const SERVER = `require('node:net').createServer((socket) => socket.on('data', (data) => {
  console.log('got ' + data.length); socket.write(data); })).listen(+process.argv[1], '127.0.0.1', () => console.log('listens'))`;
const CLIENT = `const socket = require('node:net').connect(+process.argv[2], process.argv[1]);
setInterval(() => socket.write('x'), 5); socket.on('data', () => console.log('echo'));
socket.on('close', () => { console.log('closed'); process.exit(); }); socket.on('error', () => {});`;

const suite = process.platform === 'linux' ? describe : describe.skip;

suite('the network between the processes of a cluster', () => {
  let network: Network;
  let port: number;
  let host: string;
  const children = new Map<string, Child>();

  const run = (name: string, code: string, args: readonly string[]): Child => {
    const child = new Child(process.execPath, ['-e', code, ...args]);
    children.set(name, child);
    return child;
  };
  const dial = (name: string): Child => run(name, CLIENT, [host, String(port)]);
  const count = (child: Child, word: string): number => child.output.split(word).length - 1;
  const more = async (child: Child): Promise<unknown> => {
    const before = count(child, 'echo');
    return waitUntil('bytes go around', () => count(child, 'echo') > before + 3);
  };
  /** Longer than what was under way takes. */
  const settled = (child: Child): Promise<unknown> => {
    let [seen, since] = [-1, 0];
    return waitUntil('nothing goes around', () => {
      const now = count(child, 'echo');
      if (now !== seen) [seen, since] = [now, performance.now()];
      return performance.now() - since > 300;
    });
  };

  beforeAll(async () => {
    const names = (): Map<number, string> =>
      new Map([...children].map(([name, child]) => [child.process.pid ?? 0, name]));
    network = new Network(names);
    port = await freePort();
    const server = run('worker-1', SERVER, [String(port)]);
    await waitUntil('the server listens', () => server.output.includes('listens'));
    host = await network.atOtherHost('worker-1', port);
  });

  afterAll(async () => {
    for (const child of children.values()) await child.end();
    await network[Symbol.asyncDispose]();
  });

  it('cuts one process off and leaves the others alone', async () => {
    const [a, b] = [dial('worker-2'), dial('worker-3')];
    await Promise.all([more(a), more(b)]);
    network.cut('worker-2');
    await settled(a);
    await more(b);
    network.heal('worker-2');
    await Promise.all([more(a), more(b)]);
    expect(count(a, 'closed')).toBe(0);
    await Promise.all([a.end(), b.end()]);
  });

  it('holds back connections that are made while a link is cut', async () => {
    network.cut('worker-1', 'worker-4');
    const a = dial('worker-4');
    await settled(a);
    expect(count(a, 'echo')).toBe(0);
    network.heal();
    await more(a);
    await a.end();
  });

  it('refuses connections when the process behind is gone', async () => {
    network.close('worker-1');
    const refused = dial('worker-5');
    await waitUntil('the client is refused', () => refused.hasExited);
    await network.open('worker-1');
    const a = dial('worker-5');
    await more(a);
    await a.end();
  });
});
