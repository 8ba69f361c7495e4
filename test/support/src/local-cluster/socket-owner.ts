// Which process made a connection, from what the system knows of its sockets. Linux only.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Both ends as the process that connected sees them. */
interface Connection {
  readonly localPort: number;
  readonly remotePort: number;
}

/** The one of `pids` that holds the socket; undefined when none does. */
export function socketOwner(connection: Connection, pids: Iterable<number>): number | undefined {
  const inodes = inodesOf(connection);
  for (const pid of pids) {
    if (linksOf(pid).some((link) => inodes.has(link))) return pid;
  }
  return undefined;
}

/** Columns of the table: 1 local address, 2 remote address, both with the port in hexadecimal, 9 inode. */
function inodesOf({ localPort, remotePort }: Connection): ReadonlySet<string> {
  const [local, remote] = [`:${hex(localPort)}`, `:${hex(remotePort)}`];
  const inodes = new Set<string>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const row of readFileSync(table, 'utf8').split('\n')) {
      const columns = row.trim().split(/\s+/);
      const isIt = columns[1]?.endsWith(local) === true && columns[2]?.endsWith(remote) === true;
      if (isIt) inodes.add(`socket:[${columns[9] ?? ''}]`);
    }
  }
  return inodes;
}

function hex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}

function linksOf(pid: number): string[] {
  const dir = `/proc/${String(pid)}/fd`;
  try {
    return readdirSync(dir).map((name) => linkOf(`${dir}/${name}`));
  } catch {
    return []; // It ended meanwhile.
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
