/** The port of this node for the others. */

import type { SchemaRegistry } from '@engine/metadata';
import { RpcServer } from '@engine/rpc';

import { nodeAddressOf, type ServerConfig } from '../config/config.js';
import { clusterSystem } from './cluster-clock.js';
import type { Links } from './node-links.js';
import { ANY_ADDRESS } from './settings.js';
import { startPart } from './system.js';
import type { WorkerRole } from './worker-role.js';

export interface NodePortDependencies {
  readonly links: Links;
  /** Undefined: this process hosts no partitions. */
  readonly role: WorkerRole | undefined;
  readonly schemas: SchemaRegistry;
}

/** Where the other nodes reach this one, and what they may ask of it. */
export async function startNodePort(
  config: ServerConfig,
  { links, role, schemas }: NodePortDependencies,
  parts: AsyncDisposableStack,
): Promise<RpcServer> {
  const { host = ANY_ADDRESS, port } = nodeAddressOf(config);
  const { introduction, messageBytesMax, tls } = links;
  const { worker, hosting, acks } = role ?? {};
  const schema = { reachSchema: (version: bigint): Promise<void> => schemas.reach(version) };
  const services =
    worker === undefined || acks === undefined
      ? undefined
      : { channel: worker, peer: worker, scans: worker, acks };
  return startPart(
    parts,
    new RpcServer(
      { host, port, introduction, messageBytesMax, tls },
      { ...clusterSystem, worker: services, node: hosting, schema },
    ),
  );
}
