/**
 * A process of a cluster, with any of the roles. Documents and logs come from NATS, partitions come and go with the partition table,
 * and the way to each is found by it.
 */

import { hostname } from 'node:os';

import { ControllerDriver, DrivenCluster } from '@engine/admin';
import {
  EngineError,
  loadHashes,
  NODE_ID_LENGTH_MAX,
  parseNodeId,
  type NodeAddresses,
  type NodeId,
} from '@engine/domain';
import { ClusterView, Member, MemberPeers, TableDirectory } from '@engine/membership';
import { Readiness } from '@engine/runtime';
import { createLogger } from '@engine/telemetry';
import type { NodeControl } from '@engine/wire';

import { nodeAddressOf, type ServerConfig } from '../config/config.js';
import type { RunningEngine } from '../running-engine.js';
import { VERSION } from '../version.js';
import { openClusterDocuments } from './cluster-documents.js';
import { openDeploymentAccess } from './deployment-access.js';
import { STORE_FORMATS } from './formats.js';
import { makeLinks, startRoutes } from './node-links.js';
import { startSurfaces, type SurfacePorts } from './surfaces.js';
import { startPart, system } from './system.js';
import { startWorkerRole, type WorkerRole } from './worker-role.js';

const log = createLogger('server:cluster');

/** Of the time that a stop may take, the part in which others take over what is led here. */
const HANDOVER_SHARE = 0.8;

/** Starts the roles of this process and joins the cluster. It takes work as soon as there is a partition table. */
export async function startNode(config: ServerConfig): Promise<RunningEngine> {
  const self = nodeIdOf(config);
  const readiness = new Readiness();
  readiness.notReady('membership', 'not yet a node of the cluster');
  readiness.notReady('partition table', 'no controller has written one yet');
  const isReady = (): boolean => readiness.isReady;
  const failure = Promise.withResolvers<Error>();
  const onFatal = (error: unknown): void => {
    readiness.notReady('process', 'it cannot go on');
    failure.resolve(error instanceof Error ? error : new Error(String(error)));
  };
  await using parts = new AsyncDisposableStack();
  const hashes = await loadHashes();
  const documents = await openClusterDocuments(config, hashes, parts);
  const { metadata, cluster, schemas, openLog } = documents;
  const { scheduler } = system;
  const view = await startPart(parts, new ClusterView({ store: metadata, scheduler }));
  const directory = parts.use(new TableDirectory(view, cluster.partitionCount));
  const links = makeLinks(config, self, parts);
  const peers = new MemberPeers({ self }, { view, controlAt: links.nodes.control });
  const access = openDeploymentAccess(config, parts);

  let role: WorkerRole | undefined;
  let ports: SurfacePorts = { ingress: undefined, admin: undefined };
  const member = new Member(
    {
      id: self,
      roles: config.roles,
      zone: config.location,
      binaryVersion: VERSION,
      formats: STORE_FORMATS,
      leaseTtlMs: config.nodeLeaseTtl,
    },
    {
      ...system,
      store: metadata,
      view,
      addresses: () => addressesOf(config, { ...ports, internal: role?.port }),
      hasLetGo: () => role?.hosting.leadsNothing ?? true,
      onFatal,
    },
  );
  if (config.roles.includes('worker')) {
    const isLeaseHeld = (): boolean => member.leaseState === 'held';
    role = await startWorkerRole(
      config,
      {
        ...documents,
        self,
        hashes,
        access,
        openLog,
        directory,
        links,
        peers,
        isLeaseHeld,
        onFatal,
      },
      parts,
    );
    followTable(role, view);
    follow(role, member);
  }
  const local = role === undefined ? undefined : { nodeId: self, service: role.worker };
  const routes = await startRoutes(config, { directory, links, hashes, local }, parts);
  const control = (node: NodeId): NodeControl | undefined =>
    node === self ? role?.hosting : peers.control(node);
  const driver = config.roles.includes('admin')
    ? new ControllerDriver(
        { cluster, leaseTtlMs: config.nodeLeaseTtl },
        { ...system, store: metadata, member, control, hash: hashes.xxh3 },
      )
    : undefined;
  const operations = driver && new DrivenCluster(driver, metadata);
  const surfaces = { ...routes, metadata, schemas, hashes, access, cluster: operations, isReady };
  ports = await startSurfaces(config, surfaces, parts);
  watchTable(view, readiness);
  await startPart(parts, member);
  readiness.ready('membership');
  if (driver !== undefined) await startPart(parts, driver);
  const running = parts.move();
  return {
    ports,
    failed: failure.promise,
    [Symbol.asyncDispose]: async () => {
      readiness.notReady('process', 'stopping');
      const limitMs = config.shutdownTimeout * HANDOVER_SHARE;
      if (role !== undefined) await member.leave({ limitMs });
      await running.disposeAsync();
    },
  };
}

/** Tells the worker each table, the one that is known already included. */
function followTable({ hosting }: WorkerRole, view: ClusterView): void {
  view.onTable((table) => {
    hosting.assigned(table);
  });
  if (view.table !== undefined) hosting.assigned(view.table);
}

function follow({ hosting }: WorkerRole, member: Member): void {
  member.onLease((state) => {
    hosting.lease(state);
  });
}

function watchTable(view: ClusterView, readiness: Readiness): void {
  const isThere = (): void => {
    if (view.table === undefined || readiness.isReady) return;
    readiness.ready('partition table');
    log.info({ partitions: view.table.partitions.length }, 'the partition table is here');
  };
  view.onTable(isThere);
  isThere();
}

function addressesOf(
  config: ServerConfig,
  ports: SurfacePorts & { readonly internal: number | undefined },
): NodeAddresses {
  const host = config.advertisedHost ?? nodeAddressOf(config).host ?? hostname();
  const at = (port: number | undefined): string | undefined =>
    port === undefined ? undefined : `${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
  // Nobody calls a node without partitions; port 0 says so.
  return {
    internal: at(ports.internal ?? 0) ?? '',
    ingress: at(ports.ingress),
    admin: at(ports.admin),
  };
}

function nodeIdOf({ nodeName }: ServerConfig): NodeId {
  const id = parseNodeId(nodeName);
  if (id !== undefined) return id;
  const form = `up to ${String(NODE_ID_LENGTH_MAX)} letters, digits, _ and -`;
  throw new EngineError(
    'RT0002',
    `node-name: '${nodeName}' names no node of a cluster; it takes ${form}`,
  );
}
