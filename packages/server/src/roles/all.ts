/**
 * The composition root of the embedded engine: all roles in this process. Here, and nowhere else, ports meet their adapters.
 */

import { Admin } from '@engine/admin';
import { EngineError, loadHashes } from '@engine/domain';
import { Ingress } from '@engine/ingress';
import {
  Readiness,
  systemClock,
  systemRandom,
  systemScheduler,
  type Service,
} from '@engine/runtime';
import { EngineTables, SqlEngine } from '@engine/sql';
import { Worker, workerOptions } from '@engine/worker';

import type { ServerConfig } from '../config/config.js';
import { ROLES } from '../config/fields.js';
import type { RunningEngine } from '../running-engine.js';
import { VERSION } from '../version.js';
import { openDeploymentAccess } from './deployment-access.js';
import { adminConfig, ingressConfig, workerSettings } from './settings.js';
import { openStores } from './stores.js';

const system = { clock: systemClock, scheduler: systemScheduler, random: systemRandom };

/** Starts ingress, admin and worker in this process. Resolves when it takes work. */
export async function startAll(config: ServerConfig): Promise<RunningEngine> {
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
  const { transport, functions, signer } = openDeploymentAccess(config, parts);
  const worker = await start(
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
  const tables = new EngineTables({
    invocations: worker,
    journals: worker,
    state: worker,
    schema,
    version: VERSION,
  });
  const queries = parts.use(new SqlEngine({}, { tables, scheduler: systemScheduler }));
  const isReady = (): boolean => readiness.isReady;
  const ingress = await start(
    parts,
    new Ingress(ingressConfig(config), { ...system, channel: worker, schema, hashes, isReady }),
  );
  const admin = await start(
    parts,
    new Admin(adminConfig(config, ingress.port), {
      ...system,
      channel: worker,
      schemas,
      metadata,
      hashes,
      invocations: worker,
      journals: worker,
      queries,
      functions,
      signer,
      isReady,
    }),
  );
  readiness.ready('worker');
  const running = parts.move();
  return {
    ports: { ingress: ingress.port, admin: admin.port },
    failed: failure.promise,
    [Symbol.asyncDispose]: async () => {
      readiness.notReady('process', 'stopping');
      await running.disposeAsync();
    },
  };
}

/** Starts a part that is taken down with the others, in the opposite order. */
async function start<Part extends Service>(parts: AsyncDisposableStack, part: Part): Promise<Part> {
  await part.start();
  return parts.use(part);
}

function requireAllRoles(config: ServerConfig): void {
  if (ROLES.every((role) => config.roles.includes(role))) return;
  const reason = `roles: this version runs ${ROLES.join(', ')} together in one process`;
  throw new EngineError('RT0002', reason);
}
