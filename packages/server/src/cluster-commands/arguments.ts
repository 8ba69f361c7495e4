/** `engine cluster …`: what the command line asks of a running cluster. */

import { parseArgs } from 'node:util';

export type ClusterCommand =
  | { readonly kind: 'status'; readonly isJson: boolean }
  | { readonly kind: 'move'; readonly partition: string; readonly node: string }
  | { readonly kind: 'unpin'; readonly partition: string }
  | { readonly kind: 'drain' | 'undrain'; readonly node: string }
  | { readonly kind: 'freeze' | 'unfreeze' };

export interface ClusterInvocation {
  readonly kind: 'cluster';
  readonly command: ClusterCommand;
  /** Without a slash at the end. */
  readonly adminUrl: string;
  /** Return only when what was ordered has happened. */
  readonly isWaiting: boolean;
}

export type ClusterReading =
  | ClusterInvocation
  | { readonly kind: 'help' }
  | { readonly kind: 'usage'; readonly problem: string };

const DEFAULT_ADMIN_URL = 'http://127.0.0.1:9070';

/** Lines for the page of help. */
export const CLUSTER_USAGE = `  engine cluster status [--json]             nodes, partitions, orders, alarms
  engine cluster move <partition> <node>     have a partition led by a certain worker, and pin it there
  engine cluster unpin <partition>           let placement choose its leader again
  engine cluster drain <node>                move everything away from a worker, until undrain
  engine cluster undrain <node>              let it lead and follow again
  engine cluster freeze                      move nothing, not even away from dead workers
  engine cluster unfreeze                    let placement move partitions again`;

export const CLUSTER_FLAGS = `Flags of \`engine cluster\`
      --admin-url <text>           where an admin listens (${DEFAULT_ADMIN_URL})
      --wait                       with move and drain: return when it has happened
      --json                       with status: the answer of the admin as it is`;

/** `args`: behind `engine cluster`. */
export function readClusterArguments(args: readonly string[]): ClusterReading {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        'admin-url': { type: 'string' },
        wait: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help === true) return { kind: 'help' };
    const command = commandOf(positionals, values.json === true);
    if (typeof command === 'string') return { kind: 'usage', problem: command };
    const isWaiting = values.wait === true;
    if (isWaiting && command.kind !== 'drain' && command.kind !== 'move') {
      return { kind: 'usage', problem: 'there is nothing to --wait for' };
    }
    const adminUrl = values['admin-url'] ?? DEFAULT_ADMIN_URL;
    if (!/^https?:\/\//.test(adminUrl) || !URL.canParse(adminUrl)) {
      return { kind: 'usage', problem: `--admin-url is no http address: ${adminUrl}` };
    }
    return { kind: 'cluster', command, adminUrl: adminUrl.replace(/\/+$/, ''), isWaiting };
  } catch (error) {
    return { kind: 'usage', problem: error instanceof Error ? error.message : String(error) };
  }
}

/** A text says what is wrong. */
function commandOf(
  [name, ...operands]: readonly string[],
  isJson: boolean,
): ClusterCommand | string {
  if (name === undefined) return 'engine cluster needs a command, such as status';
  const wanted = OPERANDS[name];
  if (wanted === undefined) return `there is no command cluster ${name}`;
  const [first = '', second = ''] = operands;
  if (operands.length < wanted.length) {
    return `engine cluster ${name} needs ${wanted.slice(operands.length).join(' and ')}`;
  }
  if (operands.length > wanted.length) {
    return `what is ${operands.slice(wanted.length).join(' ')} for?`;
  }
  if (isJson && name !== 'status') return '--json is for status alone';
  switch (name) {
    case 'status':
      return { kind: name, isJson };
    case 'move':
      return { kind: name, partition: first, node: second };
    case 'unpin':
      return { kind: name, partition: first };
    case 'drain':
    case 'undrain':
      return { kind: name, node: first };
    default:
      return { kind: name === 'freeze' ? 'freeze' : 'unfreeze' };
  }
}

const OPERANDS: Readonly<Record<string, readonly string[]>> = {
  status: [],
  move: ['the number of a partition', 'the id of a worker'],
  unpin: ['the number of a partition'],
  drain: ['the id of a worker'],
  undrain: ['the id of a worker'],
  freeze: [],
  unfreeze: [],
};
