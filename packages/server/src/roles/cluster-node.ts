/**
 * A process of a cluster, with any of the roles. Documents and logs come from NATS, partitions come and go with the partition table,
 * and the way to each is found by it.
 */

import { hostname } from 'node:os';

import {
  EngineError,
  NODE_ID_LENGTH_MAX,
  parseNodeId,
  type NodeAddresses,
  type NodeId,
} from '@engine/domain';
import { Member } from '@engine/membership';
import { awaitTable } from '@engine/rpc';
import { Readiness } from '@engine/runtime';
import type { NodeControl } from '@engine/wire';

import { nodeAddressOf, type ServerConfig } from '../config/config.js';
import type { RunningEngine } from '../running-engine.js';
import { VERSION } from '../version.js';
import { clusterSystem } from './cluster-clock.js';
import { makeAdminRole } from './admin-role.js';
import { openFoundation, type ClusterFoundation } from './cluster-foundation.js';
import { STORE_FORMATS } from './formats.js';
import { startRoutes } from './node-links.js';
import { startNodePort } from './node-port.js';
import { startSurfaces, type SurfacePorts } from './surfaces.js';
import { startPart } from './system.js';
import { startWorkerRole, type WorkerRole } from './worker-role.js';

/** Of the time that a stop may take, the part in which others take over what is led here. */
const HANDOVER_SHARE = 0.8;

type NodePorts = SurfacePorts & { readonly internal: number };

/** Starts the roles of this process and joins the cluster. It takes work as soon as there is a complete partition table. */
export async function startNode(config: ServerConfig): Promise<RunningEngine> {
  const self = nodeIdOf(config);
  const readiness = new Readiness();
  readiness.notReady('membership', 'not yet a node of the cluster');
  const isReady = (): boolean => readiness.isReady;
  const failure = Promise.withResolvers<Error>();
  const onFatal = (error: unknown): void => {
    readiness.notReady('process', 'it cannot go on');
    failure.resolve(error instanceof Error ? error : new Error(String(error)));
  };
  await using parts = new AsyncDisposableStack();
  const foundation = await openFoundation(config, self, parts);
  const { documents, directory, links, hashes, access, peers } = foundation;
  awaitTable(directory, readiness);

  // The member says goodbye last, so it is made first; it asks for what stands below when it starts.
  let role: WorkerRole | undefined;
  let ports: NodePorts = { internal: 0, ingress: undefined, admin: undefined };
  const member = makeMember(config, {
    foundation,
    ports: () => ports,
    hasLetGo: () => role?.hosting.leadsNothing ?? true,
    onFatal,
  });
  if (config.roles.includes('worker')) {
    const isLeaseHeld = (): boolean => member.leaseState === 'held';
    role = await startWorkerRole(config, { foundation, isLeaseHeld, onFatal }, parts);
    obey(role, { foundation, member });
  }
  const control = (node: NodeId): NodeControl | undefined =>
    node === self ? role?.hosting : peers.control(node);
  const admin = config.roles.includes('admin')
    ? makeAdminRole(config, { foundation, member, control })
    : undefined;
  const { metadata, schemas } = documents;
  const server = await startNodePort(config, { links, role, schemas }, parts);
  const local = role === undefined ? undefined : { nodeId: self, service: role.worker };
  const routes = await startRoutes(config, { directory, links, hashes, local }, parts);
  const surfaces = await startSurfaces(
    config,
    {
      ...routes,
      metadata,
      schemas: admin?.schemas ?? schemas,
      hashes,
      access,
      cluster: admin?.operations,
      catchUp: () => schemas.catchUp(),
      clock: clusterSystem.clock,
      isReady,
    },
    parts,
  );
  ports = { ...surfaces, internal: server.port };
  await startPart(parts, member);
  readiness.ready('membership');
  if (admin !== undefined) await startPart(parts, admin.driver);
  const running = parts.move();
  return {
    ports: surfaces,
    failed: failure.promise,
    [Symbol.asyncDispose]: async () => {
      readiness.notReady('process', 'stopping');
      const limitMs = config.shutdownTimeout * HANDOVER_SHARE;
      if (role !== undefined) await member.leave({ limitMs });
      await running.disposeAsync();
    },
  };
}

interface MemberParts {
  readonly foundation: ClusterFoundation;
  /** Asked once everything listens. */
  readonly ports: () => NodePorts;
  readonly hasLetGo: () => boolean;
  readonly onFatal: (error: unknown) => void;
}

function makeMember(
  config: ServerConfig,
  { foundation, ports, hasLetGo, onFatal }: MemberParts,
): Member {
  const { self, documents, view } = foundation;
  return new Member(
    {
      id: self,
      roles: config.roles,
      zone: config.location,
      binaryVersion: VERSION,
      formats: STORE_FORMATS,
      leaseTtlMs: config.nodeLeaseTtl,
    },
    {
      ...clusterSystem,
      store: documents.metadata,
      view,
      addresses: () => addressesOf(config, ports()),
      hasLetGo,
      onFatal,
    },
  );
}

/** The worker hears each table, the one that is known already included, and of its lease. */
function obey(
  { hosting }: WorkerRole,
  { foundation, member }: { readonly foundation: ClusterFoundation; readonly member: Member },
): void {
  const { view } = foundation;
  view.onTable((table) => {
    hosting.assigned(table);
  });
  if (view.table !== undefined) hosting.assigned(view.table);
  member.onLease((state) => {
    hosting.lease(state);
  });
}

function addressesOf(config: ServerConfig, ports: NodePorts): NodeAddresses {
  const host = config.advertisedHost ?? nodeAddressOf(config).host ?? hostname();
  const shown = host.includes(':') ? `[${host}]` : host;
  const at = (port: number | undefined): string | undefined =>
    port === undefined ? undefined : `${shown}:${String(port)}`;
  const { internal, ingress, admin } = ports;
  return { internal: `${shown}:${String(internal)}`, ingress: at(ingress), admin: at(admin) };
}

function nodeIdOf({ nodeName }: ServerConfig): NodeId {
  const id = parseNodeId(nodeName);
  if (id !== undefined) return id;
  const form = `up to ${String(NODE_ID_LENGTH_MAX)} letters, digits, _ and -`;
  const message = `node-name: '${nodeName}' names no node of a cluster; it takes ${form}`;
  throw new EngineError('RT0002', message);
}
