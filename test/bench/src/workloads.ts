/** The loads that both servers get, in this order. */

export interface Workload {
  readonly id: string;
  /** Target below `call/` or `send/`; `@key` becomes one of 5,000 keys. */
  readonly path: string;
  readonly body: string;
  readonly connections: number;
  readonly verb: 'call' | 'send';
}

export const WORKLOADS: readonly Workload[] = [
  { id: 'echo-c1', path: 'Bench/echo', body: '3', connections: 1, verb: 'call' },
  { id: 'echo', path: 'Bench/echo', body: '3', connections: 64, verb: 'call' },
  { id: 'steps3-c1', path: 'Bench/steps', body: '3', connections: 1, verb: 'call' },
  { id: 'steps3', path: 'Bench/steps', body: '3', connections: 64, verb: 'call' },
  { id: 'steps9', path: 'Bench/steps', body: '9', connections: 64, verb: 'call' },
  { id: 'calls3', path: 'Bench/calls', body: '3', connections: 32, verb: 'call' },
  { id: 'object-one-key', path: 'Counter/hot/add', body: '1', connections: 16, verb: 'call' },
  { id: 'object-many-keys', path: 'Counter/@key/add', body: '1', connections: 64, verb: 'call' },
  { id: 'send', path: 'Bench/echo', body: '3', connections: 64, verb: 'send' },
];
