/**
 * `node test/fault/bin/scale.mjs`: the same traffic on the embedded engine and on a cluster that grows from one worker to three while
 * it is under load. No call may fail, every object must hold what was added to it, and an invocation must cost the workers about what it
 * costs the embedded engine.
 *
 * Costs are compared at the same rate of calls for each process that runs invocations: what one costs depends on how many share a
 * turn, a write and a commit, and the rate that saturates the machine is another one for each system.
 *
 *   --seconds N   length of a measurement, default 10     --connections N   default 48     --nats 1|3   default 3
 *   --rate N      calls per second and process, default 100   --partitions N    default 24
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
    partitions: { type: 'string', default: '24' },
    rate: { type: 'string', default: '100' },
    'no-build': { type: 'boolean', default: false },
  },
});
const SECONDS = Number(args.seconds);
const RATE = Number(args.rate);
const WORKERS = 3;
/** At full speed: new processes compile what they run often. */
const WARM_UP_SECONDS = 20;
/** Of the figure of the embedded engine. */
const SHARE_MIN = 0.8;
const SETTLED_MS_MAX = 120_000;

/** The same processes twice: as fast as they can, and at the rate for each. */
interface Measured {
  readonly saturated: Measurement;
  readonly paced: Measurement;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

const pids = (...all: readonly (number | undefined)[]): number[] =>
  all.filter((pid) => pid !== undefined);

function trafficTo(ingressUrl: string): Traffic {
  return new Traffic({ ingressUrl, connections: Number(args.connections) });
}

async function measureBoth(
  name: string,
  traffic: Traffic,
  { perSecond, processes }: { readonly perSecond: number; readonly processes: Processes },
): Promise<Measured> {
  traffic.pace(Infinity);
  await measure('', traffic, { seconds: WARM_UP_SECONDS, processes });
  const saturated = await measure(`${name}, full speed`, traffic, { seconds: SECONDS, processes });
  say(printed(saturated));
  traffic.pace(perSecond);
  await measure('', traffic, { seconds: 2, processes });
  const paced = await measure(`${name}, paced`, traffic, { seconds: SECONDS, processes });
  say(printed(paced));
  return { saturated, paced };
}

async function ofEmbedded(service: ServiceHost): Promise<Measured> {
  await using engine = await EngineProcess.start({ ENGINE_LOG_LEVEL: 'warn' });
  await engine.register(service.uri);
  const traffic = trafficTo(engine.ingressUrl);
  const processes = {
    engine: pids(engine.pid),
    services: pids(service.pid),
    client: [process.pid],
  };
  const measured = await measureBoth('embedded', traffic, { perSecond: RATE, processes });
  await finish(traffic, engine.ingressUrl);
  return measured;
}

async function ofCluster(service: ServiceHost): Promise<readonly Measured[]> {
  await using cluster = await LocalCluster.start({
    natsCount: args.nats === '1' ? 1 : 3,
    workerCount: 1,
    partitionCount: Number(args.partitions),
  });
  await cluster.register(service.uri);
  const traffic = trafficTo(cluster.ingressUrl);
  const measured: Measured[] = [];
  for (let workers = 1; workers <= WORKERS; workers += 1) {
    if (workers > 1) await join(cluster, traffic);
    const processes = processesOf(cluster, service);
    const name = `${String(workers)} worker(s)`;
    measured.push(await measureBoth(name, traffic, { perSecond: RATE * workers, processes }));
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
  const used = Object.values(cpu).reduce((sum, one) => sum + one, 0);
  return `${name.padEnd(24)} ${perSecond.toFixed(0).padStart(6)}/s   processors: ${used.toFixed(2)} (${roles.join(', ')})`;
}

async function main(): Promise<boolean> {
  await using service = await ServiceHost.startAlone('scale-services.ts');
  const embedded = await ofEmbedded(service);
  const cluster = await ofCluster(service);
  const share = (which: keyof Measured, one: Measured): string =>
    (perCpuSecond(one[which], 'workers') / perCpuSecond(embedded[which], 'engine')).toFixed(2);
  const [first] = cluster;
  for (const [index, one] of cluster.entries()) {
    const ratio = one.saturated.perSecond / (first?.saturated.perSecond ?? Number.NaN);
    say(
      `${String(index + 1)} worker(s): throughput ${ratio.toFixed(2)} of one worker; invocations per CPU second of the workers, ` +
        `of embedded: ${share('paced', one)} at the same rate each, ${share('saturated', one)} at full speed`,
    );
  }
  return cluster.every((one) => Number(share('paced', one)) >= SHARE_MIN);
}

const isGood = await main();
say(isGood ? 'PASSED' : 'FAILED');
process.exitCode = isGood ? 0 : 1;
