import { parseArgs } from 'node:util';

import {
  CLUSTER_FLAGS,
  CLUSTER_USAGE,
  readClusterArguments,
  type ClusterInvocation,
} from './cluster-commands/arguments.js';

/** What the command line asks for. `flags` are configuration keys with their text. */
export type Invocation =
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | { readonly kind: 'usage'; readonly problem: string }
  | ClusterInvocation
  | {
      readonly kind: 'server';
      readonly configFile: string | undefined;
      readonly dumpConfig: boolean;
      readonly flags: Readonly<Record<string, string>>;
    };

/** Flags that are top-level configuration keys. Every other key can be set in the environment. */
const KEY_FLAGS = {
  roles: 'comma-separated: ingress, admin, worker',
  'node-name': 'unique in the cluster; names the directory under the base directory',
  'cluster-name': 'what this cluster is called',
  'base-dir': 'where data is kept (./engine-data)',
  'default-num-partitions': 'partitions of a new cluster',
  'bind-ip': 'address that every port is bound to, unless it has its own',
  'bind-port': 'port for the other nodes of a cluster (5122)',
  'advertised-host': 'host that other nodes reach this one by',
  location: 'zone of this node, such as eu-1.a',
  'default-replication': 'copies of logs and metadata of a new cluster, 1 or 3',
  'shutdown-timeout': 'how long a stopping server may take, such as 1m',
  'log-level': 'trace, debug, info, warn, error, fatal or silent',
  'log-filter': 'levels by logger, such as warn,worker=debug',
  'log-format': 'pretty, compact or json',
} as const;

export const HELP = `Engine, a durable execution server.

Usage
  engine server [flags]
${CLUSTER_USAGE}

Flags of \`engine server\`
  -c, --config-file <text>         TOML file; also ENGINE_CONFIG
${Object.entries(KEY_FLAGS)
  .map(([key, what]) => `      ${`--${key} <text>`.padEnd(33 - 6)}${what}`)
  .join('\n')}
      --dump-config                print the configuration in force as TOML and exit
  -h, --help                       this page
  -V, --version                    name and version

${CLUSTER_FLAGS}

Every configuration key can also be set in the environment: worker.invoker.abort-timeout is
ENGINE_WORKER__INVOKER__ABORT_TIMEOUT. Flags win over the environment, and that over the file.

Exit status: 0 stopped as asked or done, 1 could not start, had to stop, or was refused, 2 wrong command line.`;

export function readArguments(args: readonly string[]): Invocation {
  if (args[0] === 'cluster') return readClusterArguments(args.slice(1));
  const text = { type: 'string' } as const;
  const keyFlags = Object.fromEntries(Object.keys(KEY_FLAGS).map((key) => [key, text]));
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...keyFlags,
        'config-file': { type: 'string', short: 'c' },
        'dump-config': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'V' },
      },
    });
    return toInvocation(values, positionals);
  } catch (error) {
    return { kind: 'usage', problem: error instanceof Error ? error.message : String(error) };
  }
}

function toInvocation(
  values: Readonly<Record<string, string | boolean | undefined>>,
  positionals: readonly string[],
): Invocation {
  const [command, ...rest] = positionals;
  if (values['help'] === true) return { kind: 'help' };
  if (values['version'] === true) return { kind: 'version' };
  if (command === undefined) return { kind: 'usage', problem: 'a command is missing' };
  if (command !== 'server') return { kind: 'usage', problem: `there is no command ${command}` };
  if (rest.length > 0) return { kind: 'usage', problem: `what is ${rest.join(' ')} for?` };
  const flags: Record<string, string> = {};
  for (const [key, value] of Object.entries(values)) {
    if (key in KEY_FLAGS && typeof value === 'string') flags[key] = value;
  }
  const configFile = values['config-file'];
  return {
    kind: 'server',
    configFile: typeof configFile === 'string' ? configFile : undefined,
    dumpConfig: values['dump-config'] === true,
    flags,
  };
}
