// What the command line and the environment ask for. Plain data, because it travels to the process that leads the group.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

// Ports of one kind stand in a row of ten; workers may take five rows.
export const WORKERS_MAX = 49;

export const HELP = `Runs a cluster on this machine: 3 NATS servers, 1 ingress, 1 admin, 3 workers.

Usage
  npm run cluster -- [options]
  npm run cluster -- join <name> [--data <directory>]    one more process of a cluster that runs: worker-4, or one that was killed

Options
      --workers <n>      workers (3)
      --partitions <n>   partitions of a new cluster (the engine's default)
      --replicas <n>     copies of logs and metadata of a new cluster, 1 or 3 (3)
      --ports <n>        ports of NATS and between the nodes are taken from here on (5100)
      --data <dir>       where data are kept (./engine-data/cluster; also ENGINE_BASE_DIR)
      --fresh            forget the data of the last run
      --no-example       leave out the example deployment
      --verbose          show every line of the NATS servers
  -h, --help             this page

ENGINE_INGRESS__BIND_PORT (8080) and ENGINE_ADMIN__BIND_PORT (9070) move the two public ports; every other ENGINE_ variable is
handed on to all engine processes. EXAMPLE_PORT (9080) moves the example.
`;

const OPTIONS = {
  workers: { type: 'string' },
  partitions: { type: 'string' },
  replicas: { type: 'string' },
  ports: { type: 'string' },
  data: { type: 'string' },
  fresh: { type: 'boolean' },
  'no-example': { type: 'boolean' },
  verbose: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
};

/** The options, `{ help: true }`, or `{ problem }` with one line for people. */
export function readOptions(args, env) {
  try {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
    if (values.help === true) return { help: true };
    return {
      join: joinedName(positionals),
      workerCount: count(values.workers, '--workers', { standard: 3, max: WORKERS_MAX }),
      partitionCount: count(values.partitions, '--partitions', { max: 65_536 }),
      replicaCount: replicas(values.replicas),
      portsFrom: count(values.ports, '--ports', { standard: 5100, max: 65_435 }),
      ingressPort: count(env.ENGINE_INGRESS__BIND_PORT, 'ENGINE_INGRESS__BIND_PORT', port(8080)),
      adminPort: count(env.ENGINE_ADMIN__BIND_PORT, 'ENGINE_ADMIN__BIND_PORT', port(9070)),
      examplePort: count(env.EXAMPLE_PORT, 'EXAMPLE_PORT', port(9080)),
      dataDir: resolve(values.data ?? env.ENGINE_BASE_DIR ?? './engine-data/cluster'),
      isFresh: values.fresh === true,
      withExample: values['no-example'] !== true,
      isVerbose: values.verbose === true,
    };
  } catch (error) {
    return { problem: error.message };
  }
}

function joinedName([verb, name, ...rest]) {
  if (verb === undefined) return undefined;
  if (verb !== 'join') throw new Error(`there is no command ${verb}`);
  if (!/^(?:nats|ingress|admin|worker)-[1-9]\d?$/.test(name ?? '') || rest.length > 0) {
    throw new Error('join needs one name, such as worker-4');
  }
  return name;
}

function port(standard) {
  return { standard, max: 65_535 };
}

function replicas(text) {
  if (text === undefined || text === '1' || text === '3') return Number(text ?? 3);
  throw new Error(`--replicas is 1 or 3, not "${text}"`);
}

function count(text, name, { standard, max }) {
  if (text === undefined || text === '') return standard;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= max) return value;
  throw new Error(`${name} is a whole number from 1 to ${max}, not "${text}"`);
}
