// Who holds a port, for the message that says that it is taken. A guess that may come up empty: another user's processes
// can't be looked into.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface PortOwner {
  readonly pid: number;
  readonly command: string;
}

/** The process that listens on a TCP port of this machine; undefined when there is none or it is not for us to see. */
export function portOwner(port: number): PortOwner | undefined {
  try {
    return process.platform === 'linux' ? fromProc(port) : fromLsof(port);
  } catch {
    return undefined;
  }
}

const LISTENING = '0A';

function fromProc(port: number): PortOwner | undefined {
  const sockets = new Set(
    ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) => listeningInodes(table, port)),
  );
  if (sockets.size === 0) return undefined;
  const pid = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .find((name) => holdsSocket(name, sockets));
  if (pid === undefined) return undefined;
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  return { pid: Number(pid), command };
}

/** Columns of /proc/net/tcp: 1 local address with the port in hexadecimal, 3 state, 9 inode. */
function listeningInodes(table: string, port: number): string[] {
  const rows = readFileSync(table, 'utf8').split('\n').slice(1);
  return rows.flatMap((row) => {
    const columns = row.trim().split(/\s+/);
    const localPort = Number.parseInt(columns[1]?.split(':')[1] ?? '', 16);
    const inode = columns[9];
    if (localPort !== port || columns[3] !== LISTENING || inode === undefined) return [];
    return [`socket:[${inode}]`];
  });
}

function holdsSocket(pid: string, sockets: ReadonlySet<string>): boolean {
  try {
    const files = `/proc/${pid}/fd`;
    return readdirSync(files).some((name) => sockets.has(linkOf(`${files}/${name}`)));
  } catch {
    return false;
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function fromLsof(port: number): PortOwner | undefined {
  const args = ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc'];
  const lines = execFileSync('lsof', args, { encoding: 'utf8', timeout: 2000 }).split('\n');
  const pid = lines.find((line) => line.startsWith('p'))?.slice(1);
  const command = lines.find((line) => line.startsWith('c'))?.slice(1);
  return pid === undefined ? undefined : { pid: Number(pid), command: command ?? 'unknown' };
}
