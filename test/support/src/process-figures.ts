/** What a process has cost so far. Linux only. */

import { readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

/** Seconds of processor time that a process has used. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
  // Fields 14 and 15, counted behind the name in brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Largest memory that a process had so far, in MiB. */
export function peakMemoryMib(pid: number): number {
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
}
