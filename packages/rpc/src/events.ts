/** The one place where what happens between processes is counted and logged. */

import { isEngineError } from '@engine/domain';
import { counter } from '@engine/telemetry';
import { setLogger } from '@grpc/grpc-js';

import { clientLogger, grpcLogger, routerLogger, serverLogger } from './logger.js';

const connections = counter('engine_rpc_connections_total', {
  description: 'Streams to other nodes that were opened.',
  unit: '{stream}',
});
const losses = counter('engine_rpc_lost_connections_total', {
  description: 'Streams to other nodes that broke, or could not be opened.',
  unit: '{stream}',
});
const refusals = counter('engine_rpc_refused_nodes_total', {
  description: 'Connections refused because cluster name or versions do not fit.',
  unit: '{connection}',
});
const overflows = counter('engine_rpc_overflows_total', {
  description: 'Requests refused and messages dropped because a stream had no room, by what.',
  unit: '{item}',
});
const resends = counter('engine_rpc_resent_requests_total', {
  description: 'Requests sent again after their leader moved or the way to it broke.',
  unit: '{request}',
});
const expiries = counter('engine_rpc_expired_requests_total', {
  description: 'Requests given up because no leader could be reached in time.',
  unit: '{request}',
});

export function onOpened(address: string, node: string): void {
  connections.add(1);
  clientLogger.debug({ address, node }, 'connected');
}

/** `isNews`: the first failure of its kind in a row is for people, the repeats are for the count. */
export function onDown(address: string, error: unknown, isNews: boolean): void {
  losses.add(1);
  if (!isNews) return;
  if (isRefusal(error)) clientLogger.error({ address, err: error }, 'the other node does not fit');
  else clientLogger.warn({ address, reason: String(error) }, 'connection lost');
}

export function onNodeRefused(peer: string, error: unknown): void {
  refusals.add(1);
  serverLogger.error({ peer, err: error }, 'a node that does not fit is refused');
}

export function onOverflow(what: 'request' | 'answer' | 'message'): void {
  overflows.add(1, { what });
}

export function onTooLarge(what: string, bytes: number): void {
  serverLogger.error({ what, bytes }, 'too large for a message between nodes; see the size limits');
}

export function onHandlerFailed(what: string, error: unknown): void {
  serverLogger.error({ what, err: error }, 'a call between nodes failed');
}

export function onTlsFailed(error: unknown): void {
  serverLogger.warn({ reason: String(error) }, 'TLS connection refused');
}

export function onTlsFilesUnreadable(error: unknown): void {
  serverLogger.error({ err: error }, 'TLS files cannot be read; the last ones stay in force');
}

export function onResent(count: number): void {
  resends.add(count);
}

export function onExpired(partition: number, count: number): void {
  expiries.add(count);
  routerLogger.warn({ partition, count }, 'no leader could be reached in time');
}

/**
 * The library would write to the error output by itself, and a stranger at the port chooses what. Whatever matters reaches its callers
 * as errors. Effects: for the whole process; repeats do no harm.
 */
export function hearGrpc(): void {
  const note = (...parts: unknown[]): void => {
    grpcLogger.debug(parts.map(String).join(' '));
  };
  setLogger({ error: note, info: note, debug: note });
}

export function isRefusal(error: unknown): boolean {
  return isEngineError(error) && (error.code === 'wrong-cluster' || error.code === 'incompatible');
}
