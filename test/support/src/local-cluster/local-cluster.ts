import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Child } from '../child.js';
import { freePort } from '../free-port.js';
import { NatsServers } from '../nats-servers.js';
import { cpuSeconds, peakMemoryMib } from '../process-figures.js';
import { registerDeployment } from '../register.js';
import { readLeaders, untilAllLed } from './cluster-table.js';
import { EngineNode } from './engine-node.js';
import { Network } from './network.js';
import { indexOf, roleOf, type ClusterRole, type LocalClusterOptions } from './options.js';

/**
 * A cluster of real processes on this machine. Every process has a name, `nats-1`, `ingress-1`, `admin-1`, `worker-1` and so on, by
 * which it is killed, frozen, stopped, cut off and started again.
 */
export class LocalCluster implements AsyncDisposable {
  readonly directory: string;
  readonly #options: LocalClusterOptions;
  readonly #nodes = new Map<string, EngineNode>();
  readonly #network: Network | undefined;
  readonly #httpUrls = new Map<string, string>();
  #nats: NatsServers | undefined;
  #natsUrls: readonly string[] = [];
  #workersMade = 0;

  private constructor(options: LocalClusterOptions) {
    this.#options = options;
    this.directory = options.directory ?? mkdtempSync(join(tmpdir(), 'engine-cluster-'));
    mkdirSync(join(this.directory, 'logs'), { recursive: true });
    if (options.withNetworkCuts === true) this.#network = new Network(() => this.#pids());
  }

  /** Starts on free ports and waits until every partition is led. */
  static async start(options: LocalClusterOptions = {}): Promise<LocalCluster> {
    const cluster = new LocalCluster(options);
    try {
      await cluster.#startAll();
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  get nats(): NatsServers {
    if (this.#nats === undefined) throw new Error('the nats-servers have not started');
    return this.#nats;
  }

  get ingressUrl(): string {
    return this.#httpUrls.get('ingress-1') ?? '';
  }

  get adminUrl(): string {
    return this.#httpUrls.get('admin-1') ?? '';
  }

  ingressUrls(): string[] {
    return this.names('ingress').map((name) => this.#httpUrls.get(name) ?? '');
  }

  adminUrls(): string[] {
    return this.names('admin').map((name) => this.#httpUrls.get(name) ?? '');
  }

  /** Of all that are part of the cluster, whether they run or not. */
  names(role?: ClusterRole): string[] {
    const nats = this.nats.urls.map((_, node) => `nats-${String(node + 1)}`);
    const names = [...nats, ...this.#nodes.keys()];
    return role === undefined ? names : names.filter((name) => roleOf(name) === role);
  }

  pid(name: string): number | undefined {
    return this.isRunning(name) ? this.#child(name)?.process.pid : undefined;
  }

  isRunning(name: string): boolean {
    return this.#child(name)?.hasExited === false;
  }

  /** What the process said last. */
  output(name: string): string {
    return this.#child(name)?.output ?? '';
  }

  /** Everything that an engine process ever said. */
  logFile(name: string): string {
    return join(this.directory, 'logs', `${name}.log`);
  }

  /** Starts one that is down, and waits until it is up; not until partitions have moved. */
  async start(name: string): Promise<void> {
    this.launch(name);
    await this.#untilUp(name);
  }

  /** Starts one that is down, and does not wait. */
  launch(name: string): void {
    if (roleOf(name) === 'nats') this.nats.restart(indexOf(name) - 1);
    else this.#node(name).launch();
    this.#watch(name);
  }

  /** kill -9. */
  async kill(name: string): Promise<void> {
    await this.#child(name)?.end('SIGKILL');
  }

  /** SIGTERM; a worker drains. Gives the exit status; undefined when it had to be killed by somebody. */
  async stop(name: string): Promise<number | undefined> {
    const child = this.#child(name);
    await child?.end('SIGTERM');
    return child?.ended();
  }

  async restart(name: string): Promise<void> {
    await this.stop(name);
    await this.start(name);
  }

  freeze(name: string): void {
    this.#child(name)?.process.kill('SIGSTOP');
  }

  thaw(name: string): void {
    this.#child(name)?.process.kill('SIGCONT');
  }

  /** One more, which is up then. Gives its name. */
  async addWorker(): Promise<string> {
    const name = await this.#makeNode('worker', this.#workersMade + 1);
    await this.start(name);
    return name;
  }

  /** Stops it, and it is no part of the cluster any more. */
  async removeWorker(name: string): Promise<void> {
    await this.stop(name);
    this.#nodes.delete(name);
  }

  /** Its links to everybody, or to `other`, fall silent. Callers, deployments and this test still reach it. */
  cut(name: string, other?: string): void {
    this.#requireNetwork().cut(name, other);
  }

  /** Everything, all links of one, or those of a pair. Bytes that waited go on. */
  heal(name?: string, other?: string): void {
    this.#requireNetwork().heal(name, other);
  }

  /** Waits until each process that runs is up and every partition is led. */
  async untilReady(): Promise<void> {
    for (const name of this.names()) if (this.isRunning(name)) await this.#untilUp(name);
    await untilAllLed(this.#anAdminUrl());
  }

  /** Partition → the node that the table names as its leader. */
  leaders(): Promise<ReadonlyMap<number, string | undefined>> {
    return readLeaders(this.#anAdminUrl());
  }

  /** Registers a deployment; it must succeed. */
  async register(uri: string): Promise<void> {
    await registerDeployment(this.#anAdminUrl(), uri);
  }

  /** Processor time of the process that runs now. Linux only. */
  cpuSeconds(name: string): number {
    return cpuSeconds(this.pid(name) ?? 0);
  }

  /** Linux only. */
  peakMemoryMib(name: string): number {
    return peakMemoryMib(this.pid(name) ?? 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#nodes.values()].map(({ child }) => child?.end('SIGKILL')));
    await this.#nats?.[Symbol.asyncDispose]();
    await this.#network?.[Symbol.asyncDispose]();
    if (process.env['KEEP_CLUSTERS'] === '1') {
      process.stderr.write(`\nLogs and data of a cluster are kept in ${this.directory}\n`);
    } else if (this.#options.directory === undefined) {
      rmSync(this.directory, { recursive: true, force: true });
    }
  }

  async #startAll(): Promise<void> {
    const { workerCount = 2, ingressCount = 1, adminCount = 1 } = this.#options;
    await this.#startNats();
    const counts = { admin: adminCount, worker: workerCount, ingress: ingressCount } as const;
    for (const role of ['admin', 'worker', 'ingress'] as const) {
      for (let index = 1; index <= counts[role]; index += 1) await this.#makeNode(role, index);
    }
    for (const name of this.#nodes.keys()) this.launch(name);
    await this.untilReady();
  }

  async #startNats(): Promise<void> {
    const { natsCount = 1, natsOptions = {} } = this.#options;
    const network = this.#network;
    const gates =
      network === undefined
        ? {}
        : {
            routeVia: (node: number, port: number) =>
              network.atOtherPort(`nats-${String(node + 1)}`, port),
          };
    this.#nats = await NatsServers.start({ nodeCount: natsCount, ...natsOptions, ...gates });
    this.#natsUrls = this.#nats.urls;
    for (const name of this.names('nats')) this.#watch(name);
    if (network === undefined) return;
    const ports = this.names('nats').map((name) =>
      network.atOtherPort(name, this.nats.clientPort(indexOf(name) - 1)),
    );
    this.#natsUrls = (await Promise.all(ports)).map((port) => `nats://127.0.0.1:${String(port)}`);
  }

  async #makeNode(role: 'ingress' | 'admin' | 'worker', index: number): Promise<string> {
    const name = `${role}-${String(index)}`;
    if (role === 'worker') this.#workersMade = index;
    const { env, envOf, launcherOf } = this.#options;
    const nodePort = await freePort();
    const advertisedHost = (await this.#network?.atOtherHost(name, nodePort)) ?? '127.0.0.1';
    const healthUrls: string[] = [];
    const variables: Record<string, string> = {
      ENGINE_ROLES: role,
      ENGINE_NODE_NAME: name,
      ENGINE_BASE_DIR: join(this.directory, 'data'),
      ENGINE_BIND_IP: '127.0.0.1',
      ENGINE_BIND_PORT: String(nodePort),
      ENGINE_ADVERTISED_HOST: advertisedHost,
      ...this.#clusterVariables(),
    };
    if (role !== 'worker') {
      const port = String(await freePort());
      const url = `http://127.0.0.1:${port}`;
      variables[`ENGINE_${role.toUpperCase()}__BIND_PORT`] = port;
      this.#httpUrls.set(name, url);
      healthUrls.push(role === 'ingress' ? `${url}/engine/health` : `${url}/health`);
    }
    const node = new EngineNode({
      name,
      env: { ...process.env, ...LOGS, ...variables, ...env, ...envOf?.(name) },
      launcher: launcherOf?.(name) ?? [],
      logFile: this.logFile(name),
      healthUrls,
    });
    this.#nodes.set(name, node);
    return name;
  }

  #clusterVariables(): Record<string, string> {
    const { partitionCount, natsCount = 1, replication = natsCount } = this.#options;
    return {
      ENGINE_NATS__SERVERS: this.#natsUrls.join(','),
      ENGINE_NATS__MONITOR_URLS: this.nats.monitorUrls.join(','),
      ENGINE_DEFAULT_REPLICATION: String(replication),
      ...(partitionCount === undefined
        ? {}
        : { ENGINE_DEFAULT_NUM_PARTITIONS: String(partitionCount) }),
    };
  }

  #untilUp(name: string): Promise<void> {
    if (roleOf(name) === 'nats') return this.nats.untilHealthy(indexOf(name) - 1);
    return this.#node(name).untilUp();
  }

  /** The gates of a process are open while it lives. */
  #watch(name: string): void {
    const network = this.#network;
    if (network === undefined) return;
    void network.open(name);
    this.#child(name)?.process.once('exit', () => {
      network.close(name);
    });
  }

  #pids(): ReadonlyMap<number, string> {
    if (this.#nats === undefined) return new Map();
    const entries = this.names().map((name) => [this.pid(name), name] as const);
    return new Map(entries.filter((entry): entry is [number, string] => entry[0] !== undefined));
  }

  #child(name: string): Child | undefined {
    if (roleOf(name) === 'nats') return this.#nats?.process(indexOf(name) - 1);
    return this.#node(name).child;
  }

  #node(name: string): EngineNode {
    const node = this.#nodes.get(name);
    if (node === undefined) throw new Error(`${name} is no part of this cluster`);
    return node;
  }

  #anAdminUrl(): string {
    const name = this.names('admin').find((each) => this.isRunning(each)) ?? 'admin-1';
    return this.#httpUrls.get(name) ?? '';
  }

  #requireNetwork(): Network {
    if (this.#network === undefined) throw new Error('start the cluster withNetworkCuts');
    return this.#network;
  }
}

/** Tests have their own say about logs on the terminal; what a process of a cluster says goes to its file. */
const LOGS = { ENGINE_LOG_LEVEL: 'info', ENGINE_LOG_FORMAT: 'compact' };
