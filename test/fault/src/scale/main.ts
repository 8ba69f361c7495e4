/**
 * `node test/fault/bin/scale.mjs`: the same traffic on the embedded engine and on a cluster that grows from one worker to three while
 * it is under load. No call may fail, every object must hold what was added to it, and an invocation must cost the workers about what it
 * costs the embedded engine.
 *
 *   --seconds N   length of a measurement, default 10     --connections N   default 48     --nats 1|3   default 3
 */

import { parseArgs } from 'node:util';

import { EngineProcess, LocalCluster, waitUntil } from '@engine-test/support';

import { isSettled, readCluster } from '../systems/cluster-picture.js';
import { ServiceHost } from '../services/service-host.js';
import { measure, perCpuSecond, type Measurement, type Processes } from './measurement.js';
import { Traffic } from './traffic.js';

const { values: args } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    connections: { type: 'string', default: '48' },
    nats: { type: 'string', default: '3' },
    partitions: { type: 'string', default: '12' },
    'no-build': { type: 'boolean', default: false },
  },
});
const SECONDS = Number(args.seconds);
const CONNECTIONS = Number(args.connections);
const WORKERS = 3;
const WARM_UP_SECONDS = 5;
/** Of the figure of the embedded engine. */
const SHARE_MIN = 0.8;
const SETTLED_MS_MAX = 120_000;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

const pids = (...all: readonly (number | undefined)[]): number[] =>
  all.filter((pid) => pid !== undefined);

async function ofEmbedded(service: ServiceHost): Promise<Measurement> {
  await using engine = await EngineProcess.start({ ENGINE_LOG_LEVEL: 'warn' });
  await engine.register(service.uri);
  const traffic = new Traffic(engine.ingressUrl, CONNECTIONS);
  const processes = {
    engine: pids(engine.pid),
    services: pids(service.pid),
    client: [process.pid],
  };
  await measure('', traffic, { seconds: WARM_UP_SECONDS, processes });
  const measured = await measure('embedded', traffic, { seconds: SECONDS, processes });
  await finish(traffic, engine.ingressUrl);
  return measured;
}

async function ofCluster(service: ServiceHost): Promise<readonly Measurement[]> {
  await using cluster = await LocalCluster.start({
    natsCount: args.nats === '1' ? 1 : 3,
    workerCount: 1,
    partitionCount: Number(args.partitions),
  });
  await cluster.register(service.uri);
  const traffic = new Traffic(cluster.ingressUrl, CONNECTIONS);
  const measured: Measurement[] = [];
  for (let workers = 1; workers <= WORKERS; workers += 1) {
    if (workers > 1) await join(cluster, traffic);
    const processes = processesOf(cluster, service);
    await measure('', traffic, { seconds: WARM_UP_SECONDS, processes });
    const name = `${String(workers)} worker(s)`;
    measured.push(await measure(name, traffic, { seconds: SECONDS, processes }));
  }
  await finish(traffic, cluster.ingressUrl);
  return measured;
}

/** One more worker, until it has its part. */
async function join(cluster: LocalCluster, traffic: Traffic): Promise<void> {
  const [began, answers] = [performance.now(), traffic.answers];
  const name = await cluster.addWorker();
  await waitUntil(
    'partitions have moved',
    async () => {
      const picture = await readCluster(cluster.adminUrls());
      if (picture === undefined || !isSettled(picture, cluster.names('worker'))) return false;
      const leads = picture.nodes.filter(({ id }) => id.startsWith('worker'));
      const fair = Math.floor(Number(args.partitions) / leads.length);
      return leads.every((node) => node.leads >= fair);
    },
    SETTLED_MS_MAX,
  );
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  const calls = String(traffic.answers - answers);
  say(`${name} has its part after ${seconds} s, ${calls} calls meanwhile`);
}

function processesOf(cluster: LocalCluster, service: ServiceHost): Processes {
  const of = (role: 'worker' | 'ingress' | 'admin' | 'nats'): number[] =>
    pids(...cluster.names(role).map((name) => cluster.pid(name)));
  return {
    workers: of('worker'),
    ingress: of('ingress'),
    admin: of('admin'),
    nats: of('nats'),
    services: pids(service.pid),
    client: [process.pid],
  };
}

/** Nothing failed, and every object holds what was added. */
async function finish(traffic: Traffic, ingressUrl: string): Promise<void> {
  await traffic.stop();
  const { errors, added } = traffic;
  if (errors.length > 0) throw new Error(`${String(errors.length)} failed: ${errors[0] ?? ''}`);
  for (const [key, expected] of added) {
    const response = await fetch(`${ingressUrl}/engine/call/Counter/${key}/add`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '0',
    });
    const found = await response.json();
    if (found !== expected)
      throw new Error(`${key} holds ${String(found)}, not ${String(expected)}`);
  }
}

function printed({ name, perSecond, cpu }: Measurement): string {
  const roles = Object.entries(cpu).map(([role, seconds]) => `${role} ${seconds.toFixed(2)}`);
  return `${name.padEnd(12)} ${perSecond.toFixed(0).padStart(6)}/s   CPU s/s: ${roles.join(', ')}`;
}

async function main(): Promise<boolean> {
  await using service = await ServiceHost.startAlone('scale-services.ts');
  const embedded = await ofEmbedded(service);
  say(printed(embedded));
  const cluster = await ofCluster(service);
  for (const one of cluster) say(printed(one));
  const anchor = perCpuSecond(embedded, 'engine');
  const shares = cluster.map((one) => perCpuSecond(one, 'workers') / anchor);
  const [first] = cluster;
  for (const [index, one] of cluster.entries()) {
    const throughput = (one.perSecond / (first?.perSecond ?? Number.NaN)).toFixed(2);
    const share = (shares[index] ?? 0).toFixed(2);
    say(
      `${one.name}: throughput ${throughput} of one worker; per CPU second of workers ${share} of embedded`,
    );
  }
  const busiest = cluster.map(({ cpu }) => Object.values(cpu).reduce((sum, one) => sum + one, 0));
  say(`processors in use: ${busiest.map((sum) => sum.toFixed(2)).join(', ')}`);
  return shares.every((share) => share >= SHARE_MIN);
}

const isGood = await main();
say(isGood ? 'PASSED' : 'FAILED');
process.exitCode = isGood ? 0 : 1;
