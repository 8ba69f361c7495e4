/** Throughput and processor time over a while, by role. */

import { setTimeout as pause } from 'node:timers/promises';

import { cpuSeconds } from '@engine-test/support';

import type { Traffic } from './traffic.js';

/** Role → processes. */
export type Processes = Readonly<Record<string, readonly number[]>>;

export interface Measurement {
  readonly name: string;
  readonly perSecond: number;
  /** Seconds of processor time per second, by role. */
  readonly cpu: Readonly<Record<string, number>>;
}

export async function measure(
  name: string,
  traffic: Traffic,
  { seconds, processes }: { readonly seconds: number; readonly processes: Processes },
): Promise<Measurement> {
  const before = cpuOf(processes);
  const answers = traffic.answers;
  const began = performance.now();
  await pause(seconds * 1_000);
  const took = (performance.now() - began) / 1_000;
  const after = cpuOf(processes);
  const cpu = Object.fromEntries(
    Object.keys(processes).map((role) => [role, ((after[role] ?? 0) - (before[role] ?? 0)) / took]),
  );
  return { name, perSecond: (traffic.answers - answers) / took, cpu };
}

function cpuOf(processes: Processes): Record<string, number> {
  const sum = (pids: readonly number[]): number =>
    pids.reduce((seconds, pid) => seconds + cpuSeconds(pid), 0);
  return Object.fromEntries(Object.entries(processes).map(([role, pids]) => [role, sum(pids)]));
}

/** Invocations per second of processor time of the roles named. */
export function perCpuSecond({ perSecond, cpu }: Measurement, role: string): number {
  return perSecond / (cpu[role] ?? Number.NaN);
}
