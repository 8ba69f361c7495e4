/** One connection to the servers of a cluster, for the logs and the documents of a process. */

import { EngineError } from '@engine/domain';
import {
  connect,
  credsAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
} from '@nats-io/transport-node';

/** Older servers let two writers win, or sync each message on its own. */
export const SERVER_VERSION_MIN = '2.14.0';

/** A server that is frozen or cut off is left after two pings without an answer. */
const PING_INTERVAL_MS = 2_000;
const PINGS_OUT_MAX = 2;
const RECONNECT_WAIT_MS = 250;

/** How a process logs in, and how the servers are checked. All of it is optional. */
export interface NatsSecurity {
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly token?: string | undefined;
  /** Content of a credentials file: a JWT and its key. */
  readonly credentials?: Uint8Array | undefined;
  /** File with authorities; turns TLS on. */
  readonly tlsCaFile?: string | undefined;
}

export interface NatsOptions {
  readonly servers: readonly string[];
  /** Shown in the servers' lists of clients. */
  readonly name: string;
  /** How long the first connection may take. */
  readonly connectTimeoutMs?: number;
  readonly security?: NatsSecurity;
}

/**
 * Connects, and stays connected until closed: whatever goes down is looked for again without end.
 *
 * Throws EngineError `unavailable` when no server answers, RT0002 when the one that does is older than 2.14 or has no JetStream.
 */
export async function connectNats(options: NatsOptions): Promise<NatsConnection> {
  const { servers, name, connectTimeoutMs = 5_000, security = {} } = options;
  let connection: NatsConnection;
  try {
    connection = await connect({
      ...securityOptions(security),
      servers: [...servers],
      name,
      timeout: connectTimeoutMs,
      maxReconnectAttempts: -1,
      reconnectTimeWait: RECONNECT_WAIT_MS,
      pingInterval: PING_INTERVAL_MS,
      maxPingOut: PINGS_OUT_MAX,
    });
  } catch (cause) {
    const message = `no nats-server answers at ${servers.join(', ')}`;
    throw new EngineError('unavailable', message, { cause });
  }
  const problem = serverProblem(connection);
  if (problem === undefined) return connection;
  await connection.close();
  throw new EngineError('RT0002', problem);
}

function securityOptions(security: NatsSecurity): Partial<NodeConnectionOptions> {
  const { user, password, token, credentials, tlsCaFile } = security;
  return {
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { pass: password }),
    ...(token === undefined ? {} : { token }),
    ...(credentials === undefined ? {} : { authenticator: credsAuthenticator(credentials) }),
    ...(tlsCaFile === undefined ? {} : { tls: { caFile: tlsCaFile } }),
  };
}

function serverProblem({ info }: NatsConnection): string | undefined {
  const version = info?.version ?? 'of unknown version';
  if (!isNewEnough(version)) {
    return `the nats-server is ${version}; a cluster needs ${SERVER_VERSION_MIN} or newer`;
  }
  if (info?.jetstream !== true) return 'the nats-server runs without JetStream';
  return undefined;
}

/** True for versions from `SERVER_VERSION_MIN` on, previews of it included. */
export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = numbersOf(version);
  const [majorMin = 0, minorMin = 0] = numbersOf(SERVER_VERSION_MIN);
  return major > majorMin || (major === majorMin && minor >= minorMin);
}

function numbersOf(version: string): number[] {
  return version.split('.').map((part) => Number.parseInt(part, 10) || 0);
}
