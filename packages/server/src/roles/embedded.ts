/** The embedded engine: all roles in this process, its disk the only store. */

import { LoneNode } from '@engine/admin';
import { EngineError, loadHashes, parseNodeId, ROLES } from '@engine/domain';
import { Readiness } from '@engine/runtime';
import { Worker, workerOptions } from '@engine/worker';

import type { ServerConfig } from '../config/config.js';
import type { RunningEngine } from '../running-engine.js';
import { VERSION } from '../version.js';
import { openDeploymentAccess } from './deployment-access.js';
import { openStores } from './embedded-stores.js';
import { workerSettings } from './settings.js';
import { startSurfaces } from './surfaces.js';
import { startPart, system } from './system.js';

/** Starts ingress, admin and worker in this process. Resolves when it takes work. */
export async function startEmbedded(config: ServerConfig): Promise<RunningEngine> {
  requireAllRoles(config);
  const readiness = new Readiness();
  readiness.notReady('worker', 'partitions are being opened');
  const failure = Promise.withResolvers<Error>();
  const onFatal = (error: unknown): void => {
    readiness.notReady('worker', 'a partition cannot go on');
    failure.resolve(error instanceof Error ? error : new Error(String(error)));
  };
  await using parts = new AsyncDisposableStack();
  const stores = await openStores(config, parts, onFatal);
  const { metadata, schemas, partitionCount, openPartition } = stores;
  const hashes = await loadHashes();
  const schema = (): typeof schemas.current => schemas.current;
  const access = openDeploymentAccess(config, parts);
  const { transport } = access;
  const worker = await startPart(
    parts,
    new Worker(workerOptions(workerSettings(config, partitionCount)), {
      ...system,
      hashes,
      schema,
      transport,
      openPartition,
      onFatal,
    }),
  );
  const isReady = (): boolean => readiness.isReady;
  const surfaces = { channel: worker, scans: worker, metadata, schemas, hashes, access, isReady };
  const cluster = loneNode(config, partitionCount);
  const ports = await startSurfaces(config, { ...surfaces, cluster }, parts);
  readiness.ready('worker');
  const running = parts.move();
  return {
    ports,
    failed: failure.promise,
    [Symbol.asyncDispose]: async () => {
      readiness.notReady('process', 'stopping');
      await running.disposeAsync();
    },
  };
}

function loneNode({ nodeName, clusterName }: ServerConfig, partitionCount: number): LoneNode {
  const id = parseNodeId(nodeName);
  const named = id === undefined ? {} : { id };
  return new LoneNode({ ...named, clusterName, partitionCount, binaryVersion: VERSION });
}

function requireAllRoles(config: ServerConfig): void {
  if (ROLES.every((role) => config.roles.includes(role))) return;
  const reason = `roles: a process with ${config.roles.join(', ')} alone is part of a cluster; nats.servers is not set`;
  throw new EngineError('RT0002', reason);
}
