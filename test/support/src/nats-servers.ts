import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Child } from './child.js';
import { freePort } from './free-port.js';
import { waitUntil } from './wait-until.js';

const TOOL = join(import.meta.dirname, '..', '..', '..', 'tools', 'nats-server.mjs');

let found: string | undefined;

/**
 * The nats-server of this machine. Undefined where there is none: then its suites are skipped, which is said on standard error.
 * With ENGINE_NATS_REQUIRED=1 (as in CI) they fail instead.
 */
export function natsServerPath(): string | undefined {
  if (found === undefined) {
    const { stdout, stderr } = spawnSync(process.execPath, [TOOL, '--find'], { encoding: 'utf8' });
    found = stdout.trim();
    if (found === '') {
      if (process.env['ENGINE_NATS_REQUIRED'] === '1') throw new Error(stderr);
      process.stderr.write(`\nSKIPPED: suites against a real nats-server. ${stderr}\n`);
    }
  }
  return found === '' ? undefined : found;
}

interface Ports {
  readonly client: number;
  readonly monitor: number;
  readonly cluster: number;
  /** Where the other nodes connect to. */
  readonly route: number;
}

export interface NatsServersOptions {
  readonly nodeCount: 1 | 3;
  /** Lines for the part `jetstream` of each configuration, such as `max_file_store: 10MB`. */
  readonly jetstream?: string;
  /** Lines for the top of each configuration, such as `max_payload: 8MB`. */
  readonly top?: string;
  /** Where the directories of the nodes are made; the temporary one of this machine unless set. */
  readonly directory?: string;
  /**
   * Something that stands in front of the port where a node takes the routes of the others: is told that port before any of them
   * starts, gives the port to connect to.
   */
  readonly routeVia?: (node: number, port: number) => Promise<number>;
}

/** One to three nats-servers with JetStream on files, every write synced, in directories of their own. */
export class NatsServers implements AsyncDisposable {
  readonly #dir: string;
  readonly #ports: readonly Ports[];
  readonly #options: NatsServersOptions;
  readonly #children: (Child | undefined)[] = [];

  private constructor(options: NatsServersOptions, ports: readonly Ports[]) {
    this.#options = options;
    this.#ports = ports;
    this.#dir = mkdtempSync(join(options.directory ?? tmpdir(), 'engine-nats-'));
  }

  /** Starts on free ports and waits until JetStream takes work. */
  static async start(options: NatsServersOptions): Promise<NatsServers> {
    const ports: Ports[] = [];
    for (let node = 0; node < options.nodeCount; node++) {
      const [client, monitor, cluster] = [await freePort(), await freePort(), await freePort()];
      const route = (await options.routeVia?.(node, cluster)) ?? cluster;
      ports.push({ client, monitor, cluster, route });
    }
    const servers = new NatsServers(options, ports);
    for (const node of ports.keys()) servers.#launch(node);
    for (const node of ports.keys()) await servers.untilHealthy(node);
    return servers;
  }

  get urls(): string[] {
    return this.#ports.map(({ client }) => `nats://127.0.0.1:${String(client)}`);
  }

  clientPort(node: number): number {
    return this.#ports[node]?.client ?? 0;
  }

  get monitorUrls(): string[] {
    return this.#ports.map(({ monitor }) => `http://127.0.0.1:${String(monitor)}`);
  }

  pid(node: number): number | undefined {
    return this.#children[node]?.process.pid;
  }

  /** Undefined before its first start. */
  process(node: number): Child | undefined {
    return this.#children[node];
  }

  /** kill -9. */
  async kill(node: number): Promise<void> {
    await this.#children[node]?.end('SIGKILL');
  }

  async stop(node: number): Promise<void> {
    await this.#children[node]?.end('SIGTERM');
  }

  /** Starts a node that was killed or stopped, on its old data. Does not wait. */
  restart(node: number): void {
    this.#launch(node);
  }

  freeze(node: number): void {
    this.#children[node]?.process.kill('SIGSTOP');
  }

  thaw(node: number): void {
    this.#children[node]?.process.kill('SIGCONT');
  }

  async untilHealthy(node: number): Promise<void> {
    const url = `${this.monitorUrls[node] ?? ''}/healthz`;
    await waitUntil(`nats-server ${String(node)} is healthy`, async () => {
      const child = this.#children[node];
      if (child?.hasExited === true) throw new Error(`nats-server ended:\n${child.output}`);
      return (await json(url))?.['status'] === 'ok';
    });
  }

  /** The node that leads a stream at the moment; undefined while none does. Asks the nodes that answer. */
  async streamLeader(stream: string): Promise<number | undefined> {
    for (const url of this.monitorUrls) {
      const text = JSON.stringify((await json(`${url}/jsz?streams=true`)) ?? {});
      // The details of a stream name it before its cluster.
      const at = text.indexOf(`"name":"${stream}"`);
      const leader = at < 0 ? undefined : /"leader":"node-(\d)"/.exec(text.slice(at))?.[1];
      if (leader !== undefined) return Number(leader);
    }
    return undefined;
  }

  output(node: number): string {
    return this.#children[node]?.output ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#children.map((child) => child?.end('SIGKILL')));
    rmSync(this.#dir, { recursive: true, force: true });
  }

  #launch(node: number): void {
    const path = natsServerPath();
    if (path === undefined) throw new Error('there is no nats-server');
    const dir = join(this.#dir, String(node));
    mkdirSync(dir, { recursive: true });
    const config = join(dir, 'nats.conf');
    writeFileSync(config, this.#configOf(node, dir));
    this.#children[node] = new Child(path, ['-c', config]);
  }

  #configOf(node: number, dir: string): string {
    const { client, monitor } = this.#ports[node] ?? { client: 0, monitor: 0 };
    const lines = [
      `server_name: node-${String(node)}`,
      `listen: 127.0.0.1:${String(client)}`,
      `http: 127.0.0.1:${String(monitor)}`,
      this.#options.top ?? '',
      `jetstream {`,
      `  store_dir: "${dir}"`,
      '  sync_interval: always',
      this.#options.jetstream ?? '',
      '}',
    ];
    if (this.#options.nodeCount > 1) lines.push(...this.#routesOf(node));
    return lines.join('\n');
  }

  #routesOf(node: number): string[] {
    const { cluster, route } = this.#ports[node] ?? { cluster: 0, route: 0 };
    const routes = this.#ports.map((ports) => `"nats://127.0.0.1:${String(ports.route)}"`);
    const lines = ['name: test', `listen: 127.0.0.1:${String(cluster)}`];
    lines.push(`routes: [${routes.join(', ')}]`);
    if (route !== cluster) {
      // Neither nodes nor clients learn of a way around.
      lines.push(`advertise: "127.0.0.1:${String(route)}"`, 'no_advertise: true');
    }
    return ['cluster {', ...lines, '}'];
  }
}

async function json(url: string): Promise<Record<string, unknown> | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(1_000) });
    return (await response.json()) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
