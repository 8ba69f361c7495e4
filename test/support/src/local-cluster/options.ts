import type { NatsServersOptions } from '../nats-servers.js';

export type ClusterRole = 'nats' | 'ingress' | 'admin' | 'worker';

export interface LocalClusterOptions {
  /** 1 */
  readonly natsCount?: 1 | 3;
  /** 2 */
  readonly workerCount?: number;
  /** 1 */
  readonly ingressCount?: number;
  /** 1 */
  readonly adminCount?: number;
  /** The engine's own default unless set. */
  readonly partitionCount?: number;
  /** Copies of logs and metadata; `natsCount` unless set. */
  readonly replication?: 1 | 3;
  /** Configuration of every engine process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Configuration of one of them; wins over `env`. */
  readonly envOf?: (name: string) => Readonly<Record<string, string>>;
  /** A command put in front of that of an engine process, which it has to become with exec: `['faketime', '+1h']`. */
  readonly launcherOf?: (name: string) => readonly string[] | undefined;
  /** Links between the processes go through this one, so that they can be cut. Linux. False unless set. */
  readonly withNetworkCuts?: boolean;
  readonly natsOptions?: Pick<NatsServersOptions, 'jetstream' | 'top' | 'directory'>;
  /** For data and logs. A temporary one, removed in the end, unless set. */
  readonly directory?: string;
}

/** The role in a name such as `worker-2`. */
export function roleOf(name: string): ClusterRole {
  const [role = ''] = name.split('-');
  if (role === 'nats' || role === 'ingress' || role === 'admin' || role === 'worker') return role;
  throw new Error(`${name} is no name of a process of a cluster`);
}

/** From 1 on. */
export function indexOf(name: string): number {
  return Number(name.split('-')[1]);
}
