import { createServer } from 'node:net';

// Below the ports that systems give to outgoing connections (Linux from 32768, macOS from 49152): one that is free stays free while
// the process that has it is down.
const PORT_MIN = 20_000;
const PORT_MAX = 32_700;

const given = new Set<number>();

/** A port of 127.0.0.1 that nobody holds at the moment, and that this process was never given before. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORT_MIN + Math.floor(Math.random() * (PORT_MAX - PORT_MIN));
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
}

/** Free on every address: some processes listen on one, some on all. */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen(port, () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}
