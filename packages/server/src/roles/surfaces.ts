/** The listeners for people and programs: ingress and admin, whichever this process has. */

import { Admin, type AdminDependencies } from '@engine/admin';
import type { Hashes } from '@engine/domain';
import { Ingress, type IngressDependencies } from '@engine/ingress';
import type { MetadataStore } from '@engine/metadata';
import type { Clock } from '@engine/runtime';
import { EngineTables, SqlEngine } from '@engine/sql';
import type { InvocationScan, JournalScan, PartitionChannel, StateScan } from '@engine/wire';

import type { ServerConfig } from '../config/config.js';
import { VERSION } from '../version.js';
import type { DeploymentAccess } from './deployment-access.js';
import { adminConfig, ingressConfig } from './settings.js';
import { startPart, system } from './system.js';

/** What the surfaces ask, the same whether partitions live here or elsewhere. */
export interface SurfaceDependencies {
  readonly channel: PartitionChannel;
  readonly scans: InvocationScan & JournalScan & StateScan;
  readonly metadata: MetadataStore;
  readonly schemas: AdminDependencies['schemas'];
  readonly hashes: Hashes;
  readonly access: DeploymentAccess;
  readonly cluster?: AdminDependencies['cluster'];
  /** Undefined: `schemas` is never behind. */
  readonly catchUp?: IngressDependencies['catchUp'];
  readonly isReady: () => boolean;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/** Ports that are bound; undefined for a role that this process does not have. */
export interface SurfacePorts {
  readonly ingress: number | undefined;
  readonly admin: number | undefined;
}

/** Errors: RT0004 when a port is taken. What is started is taken down with `parts`. */
export async function startSurfaces(
  config: ServerConfig,
  dependencies: SurfaceDependencies,
  parts: AsyncDisposableStack,
): Promise<SurfacePorts> {
  const ingress = config.roles.includes('ingress')
    ? await startIngress(config, dependencies, parts)
    : undefined;
  const admin = config.roles.includes('admin')
    ? await startAdmin({ config, ingressPort: ingress }, dependencies, parts)
    : undefined;
  return { ingress, admin };
}

async function startIngress(
  config: ServerConfig,
  { channel, schemas, catchUp, hashes, isReady, clock = system.clock }: SurfaceDependencies,
  parts: AsyncDisposableStack,
): Promise<number> {
  const schema = (): typeof schemas.current => schemas.current;
  const dependencies = { ...system, clock, channel, schema, catchUp, hashes, isReady };
  const ingress = await startPart(parts, new Ingress(ingressConfig(config), dependencies));
  return ingress.port;
}

async function startAdmin(
  settings: { readonly config: ServerConfig; readonly ingressPort: number | undefined },
  dependencies: SurfaceDependencies,
  parts: AsyncDisposableStack,
): Promise<number> {
  const { scans, schemas, access, ...rest } = dependencies;
  const tables = new EngineTables({
    invocations: scans,
    journals: scans,
    state: scans,
    schema: () => schemas.current,
    version: VERSION,
  });
  const queries = parts.use(new SqlEngine({}, { tables, scheduler: system.scheduler }));
  const admin = new Admin(adminConfig(settings.config, settings.ingressPort), {
    ...system,
    ...rest,
    schemas,
    invocations: scans,
    journals: scans,
    queries,
    functions: access.functions,
    signer: access.signer,
  });
  return (await startPart(parts, admin)).port;
}
