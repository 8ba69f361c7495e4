// Which processes make up the cluster, and how each of them is started. A name says everything: `worker-2` is the second worker.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pinnedNode, root } from '../bootstrap.mjs';

const NATS_COUNT = 3;
// The first port of each kind of a cluster is `portsFrom` plus this plus 1.
const CLIENT_PORTS = 0;
const ROUTE_PORTS = 10;
const MONITOR_PORTS = 20;
const NODE_PORTS = { ingress: 30, admin: 40, worker: 50 };

/** Stages of the start, each a list of names; a stop goes through them backwards, workers before those who call them. */
export function stagesOf({ workerCount }) {
  const names = (role, count) =>
    Array.from({ length: count }, (_, index) => `${role}-${index + 1}`);
  return {
    nats: names('nats', NATS_COUNT),
    admin: names('admin', 1),
    ingress: names('ingress', 1),
    worker: names('worker', workerCount),
  };
}

export function roleOf(name) {
  return name.slice(0, name.lastIndexOf('-'));
}

function indexOf(name) {
  return Number(name.slice(name.lastIndexOf('-') + 1));
}

/** `{ port, purpose, remedy }` of everything that the process listens on. */
export function portsOf(settings, name) {
  const { portsFrom } = settings;
  const index = indexOf(name);
  const own = (offset) => ({
    port: portsFrom + offset + index,
    purpose: name,
    remedy: `--ports ${portsFrom + 10_000}`,
  });
  const role = roleOf(name);
  switch (role) {
    case 'nats':
      return [own(CLIENT_PORTS), own(ROUTE_PORTS), own(MONITOR_PORTS)];
    case 'worker':
      return [own(NODE_PORTS.worker)];
    default: {
      const port = httpPort(settings, name);
      const remedy = `ENGINE_${role.toUpperCase()}__BIND_PORT=${port + 10_000}`;
      return [{ port, purpose: name, remedy }, own(NODE_PORTS[role])];
    }
  }
}

/** Where an ingress or an admin takes requests. The second one stands beside the first. */
export function httpPort(settings, name) {
  const first = roleOf(name) === 'ingress' ? settings.ingressPort : settings.adminPort;
  return first + indexOf(name) - 1;
}

export function natsUrls({ portsFrom }) {
  return portsOfEach(portsFrom + CLIENT_PORTS, 'nats');
}

/** A page that is well when the process takes work; undefined for workers, which the others speak for. */
export function healthUrl(settings, name) {
  switch (roleOf(name)) {
    case 'nats':
      return `http://127.0.0.1:${settings.portsFrom + MONITOR_PORTS + indexOf(name)}/healthz`;
    case 'ingress':
      return `http://127.0.0.1:${httpPort(settings, name)}/engine/health`;
    case 'admin':
      return `http://127.0.0.1:${httpPort(settings, name)}/health`;
    default:
      return undefined;
  }
}

/** `{ command, args, env }`. Effects: writes the configuration of a NATS server. */
export function launchOf(settings, name) {
  return roleOf(name) === 'nats' ? natsLaunch(settings, name) : engineLaunch(settings, name);
}

export function exampleLaunch({ examplePort }) {
  const require = createRequire(join(root, 'packages/server/package.json'));
  const main = join(dirname(require.resolve('@engine/example')), 'main.js');
  return {
    command: pinnedNode(),
    args: [main],
    env: { ...process.env, PORT: String(examplePort) },
  };
}

function natsLaunch({ portsFrom, dataDir, natsServer }, name) {
  const index = indexOf(name);
  const dir = join(dataDir, name);
  mkdirSync(dir, { recursive: true });
  const file = join(dir, 'nats.conf');
  const routes = portsOfEach(portsFrom + ROUTE_PORTS, 'nats').map((url) => JSON.stringify(url));
  writeFileSync(
    file,
    `server_name: ${name}
listen: "127.0.0.1:${portsFrom + CLIENT_PORTS + index}"
http: "127.0.0.1:${portsFrom + MONITOR_PORTS + index}"
logtime: false
jetstream {
  store_dir: ${JSON.stringify(dir)}
  # Nothing is acknowledged before it is on disk.
  sync_interval: always
}
cluster {
  name: engine
  listen: "127.0.0.1:${portsFrom + ROUTE_PORTS + index}"
  routes: [${routes.join(', ')}]
}
`,
  );
  return { command: natsServer, args: ['-c', file], env: process.env };
}

function engineLaunch(settings, name) {
  const { portsFrom, dataDir, partitionCount, replicaCount } = settings;
  const role = roleOf(name);
  const variables = {
    ENGINE_ROLES: role,
    ENGINE_NODE_NAME: name,
    ENGINE_BASE_DIR: dataDir,
    ENGINE_BIND_PORT: String(portsFrom + NODE_PORTS[role] + indexOf(name)),
    ENGINE_ADVERTISED_HOST: '127.0.0.1',
    ENGINE_NATS__SERVERS: natsUrls(settings).join(','),
    ENGINE_NATS__MONITOR_URLS: portsOfEach(portsFrom + MONITOR_PORTS, 'http').join(','),
    ENGINE_DEFAULT_REPLICATION: String(replicaCount),
    ...(partitionCount === undefined
      ? {}
      : { ENGINE_DEFAULT_NUM_PARTITIONS: String(partitionCount) }),
    ...(role === 'worker'
      ? {}
      : { [`ENGINE_${role.toUpperCase()}__BIND_PORT`]: String(httpPort(settings, name)) }),
  };
  const command = join(root, 'packages/server/bin/engine');
  return { command, args: ['server'], env: { ...process.env, ...variables } };
}

function portsOfEach(before, scheme) {
  return Array.from(
    { length: NATS_COUNT },
    (_, index) => `${scheme}://127.0.0.1:${before + index + 1}`,
  );
}
