import { createServer } from 'node:net';
import { explainTakenPort, type WantedPort } from '../explain.js';
import { portOwner } from '../port-owner.js';

/** Asks for each port before anything starts, so that one message names every port that is taken. Undefined: all free. */
export async function explainTakenPorts(
  ports: readonly (WantedPort & { readonly code: 'RT0004' | undefined })[],
): Promise<string | undefined> {
  const problems: string[] = [];
  for (const port of ports) {
    if (await isFree(port.port)) continue;
    problems.push(explainTakenPort(port.code, port, portOwner(port.port)));
  }
  return problems.length === 0 ? undefined : problems.join('\n');
}

/** On macOS the wildcard address can be bound beside a taken loopback address, and callers would reach the other one. */
async function isFree(port: number): Promise<boolean> {
  return (await canListen(port)) && (await canListen(port, '127.0.0.1'));
}

function canListen(port: number, host?: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen({ port, host }, () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}
