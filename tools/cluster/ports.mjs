// Asks for every port before anything starts, so that one message names all that are taken.
import { createServer } from 'node:net';
import { join } from 'node:path';
import { root } from '../bootstrap.mjs';

// A cluster that was killed a moment ago still lets go of its ports.
const PATIENCE_MS = 3_000;
const POLL_MS = 100;

/** One line for each port that stays taken. `wanted`: `{ port, purpose, remedy }`, a remedy being what to type for another one. */
export async function takenPorts(wanted) {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const taken = [];
    for (const each of wanted) if (!(await isFree(each.port))) taken.push(each);
    if (taken.length === 0) return [];
    if (performance.now() > end) return explained(taken);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function explained(taken) {
  // Built code: it is there only after the set-up.
  const { portOwner } = await import(join(root, 'packages/server/dist/port-owner.js'));
  return taken.map(({ port, purpose, remedy }) => {
    const owner = portOwner(port);
    const by =
      owner === undefined
        ? 'another process'
        : `process ${owner.pid} (${owner.command.slice(0, 80)})`;
    const way = remedy === undefined ? '' : `, or choose another: ${remedy}`;
    return `Port ${port}, for ${purpose}, is taken by ${by}. Stop it${way}`;
  });
}

/** On macOS the wildcard address can be bound beside a taken loopback address. */
async function isFree(port) {
  return (await canListen(port)) && (await canListen(port, '127.0.0.1'));
}

function canListen(port, host) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host }, () => server.close(() => resolve(true)));
  });
}
