/** What a server costs: CPU and memory of its whole process tree, read from /proc (Linux only). */

import { readdirSync, readFileSync } from 'node:fs';

export interface Usage {
  readonly cpuSeconds: number;
  readonly residentMb: number;
}

const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;
/** Launchers are not part of the server. */
const LAUNCHER = /(^|\/)(npm|npx|pnpm|sh|dash|bash)(-cli\.js|\.cjs)?$|^npm /;

/** Usage of a process and all its children so far. */
export function usageOf(root: number): Usage {
  let cpuSeconds = 0;
  let residentMb = 0;
  for (const pid of treeOf(root)) {
    const fields = statOf(pid);
    if (fields === undefined || isLauncher(pid)) continue;
    cpuSeconds += (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    residentMb += (Number(fields[21]) * PAGE_BYTES) / 1e6;
  }
  return { cpuSeconds, residentMb };
}

function treeOf(root: number): ReadonlySet<number> {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const fields = /^\d+$/.test(name) ? statOf(Number(name)) : undefined;
    if (fields !== undefined) parents.set(Number(name), Number(fields[1]));
  }
  const tree = new Set([root]);
  for (let before = 0; before < tree.size;) {
    before = tree.size;
    for (const [pid, parent] of parents) if (tree.has(parent)) tree.add(pid);
  }
  return tree;
}

/** Fields of /proc/pid/stat after the command name: state is 0, parent 1. */
function statOf(pid: number): readonly string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined; // It ended meanwhile.
  }
}

function isLauncher(pid: number): boolean {
  try {
    const words = readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8').split('\0');
    return words.slice(0, 2).some((word) => LAUNCHER.test(word));
  } catch {
    return true;
  }
}
