/** The two servers and the service that each of them calls, as child processes on free ports. */

import { execFileSync, spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const REFERENCE_VERSION = '1.7.12';
const READY_MS_MAX = 60_000;
const POLL_MS = 25;

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..', '..');

export interface ServerUnderTest {
  readonly name: 'reference' | 'engine';
  readonly pid: number;
  readonly ingressPort: number;
  readonly adminPort: number;
  /** First segment of ingress paths. */
  readonly prefix: string;
  readonly startMs: number;
}

export interface Service {
  readonly pid: number;
  readonly port: number;
}

/** Starts processes and ends all of them again. */
export class ServerFarm implements AsyncDisposable {
  readonly #scratch: string;
  readonly #children: ChildProcess[] = [];

  constructor(scratch: string) {
    this.#scratch = scratch;
  }

  /** The reference server, brought from the npm registry on first use. */
  async reference(): Promise<ServerUnderTest> {
    const binary = installReference();
    const [ingressPort, adminPort, nodePort] = [
      await freePort(),
      await freePort(),
      await freePort(),
    ];
    const config = join(this.#scratch, 'reference.toml');
    writeFileSync(
      config,
      [
        'node-name = "n1"',
        'cluster-name = "bench"',
        'bind-ip = "127.0.0.1"',
        `bind-port = ${String(nodePort)}`,
        'listen-mode = "tcp"',
        `[ingress]\nbind-port = ${String(ingressPort)}`,
        `[admin]\nbind-port = ${String(adminPort)}`,
      ].join('\n'),
    );
    const began = performance.now();
    const dir = join(this.#scratch, 'reference');
    const pid = this.#launch(binary, ['-c', config, '--base-dir', dir, '--no-logo']);
    await ready(adminPort);
    const startMs = Math.round(performance.now() - began);
    return { name: 'reference', pid, ingressPort, adminPort, prefix: 'restate', startMs };
  }

  async engine(): Promise<ServerUnderTest> {
    const [ingressPort, adminPort] = [await freePort(), await freePort()];
    const began = performance.now();
    const pid = this.#launch(join(root, 'packages/server/bin/engine'), ['server'], {
      env: {
        ...process.env,
        ENGINE_BASE_DIR: join(this.#scratch, 'engine'),
        ENGINE_INGRESS__BIND_PORT: String(ingressPort),
        ENGINE_ADMIN__BIND_PORT: String(adminPort),
      },
    });
    await ready(adminPort);
    const startMs = Math.round(performance.now() - began);
    return { name: 'engine', pid, ingressPort, adminPort, prefix: 'engine', startMs };
  }

  /** A service of its own for each server, registered with it. */
  async serviceOf(server: ServerUnderTest): Promise<Service> {
    const port = await freePort();
    const pid = this.#launch(process.execPath, [join(here, 'services.js')], {
      env: { ...process.env, PORT: String(port), RESTATE_LOGGING: 'ERROR', NODE_ENV: 'production' },
    });
    await listening(port);
    const response = await fetch(`http://127.0.0.1:${String(server.adminPort)}/deployments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ uri: `http://127.0.0.1:${String(port)}` }),
    });
    if (!response.ok) {
      throw new Error(`${server.name} refuses the service: ${await response.text()}`);
    }
    return { pid, port };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = this.#children.map(
      (child) =>
        new Promise<void>((resolve) => {
          if (child.exitCode !== null || child.signalCode !== null) resolve();
          else
            child.once('exit', () => {
              resolve();
            });
        }),
    );
    for (const child of this.#children) end(child);
    await Promise.all(ended);
  }

  #launch(command: string, args: readonly string[], options: SpawnOptions = {}): number {
    const child = spawn(command, [...args], { stdio: 'ignore', detached: true, ...options });
    this.#children.push(child);
    if (child.pid === undefined) throw new Error(`${command} does not start`);
    return child.pid;
  }
}

function end(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  process.kill(-child.pid, 'SIGKILL');
}

function installReference(): string {
  const prefix = join(root, 'node_modules', '.cache', `reference-${REFERENCE_VERSION}`);
  const platform = `restate-server-${process.platform}-${process.arch}`;
  const binary = join(prefix, 'node_modules/@restatedev', platform, 'bin/restate-server');
  if (!existsSync(binary)) {
    process.stderr.write('Installing the reference server from the npm registry …\n');
    mkdirSync(prefix, { recursive: true });
    const what = `@restatedev/restate-server@${REFERENCE_VERSION}`;
    execFileSync('npm', ['install', '--no-save', '--prefix', prefix, what], { stdio: 'ignore' });
  }
  return binary;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => {
        resolve(port);
      });
    });
  });
}

const ready = (port: number): Promise<void> =>
  waitUntil(
    `port ${String(port)} serves`,
    async () => (await fetch(`http://127.0.0.1:${String(port)}/health`)).ok,
  );

/** The SDK answers a plain request over HTTP/1.1 with an error of some kind as soon as it listens. */
const listening = (port: number): Promise<void> =>
  waitUntil(`port ${String(port)} listens`, async () => {
    const { connect } = await import('node:net');
    return new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => {
        resolve(false);
      });
    });
  });

async function waitUntil(what: string, check: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + READY_MS_MAX;
  while (performance.now() < until) {
    if (await check().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`${what}: not within ${String(READY_MS_MAX)} ms`);
}
