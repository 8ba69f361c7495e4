/**
 * Codes that take what another server left behind: its stored documents and rows are changed while the engine stands still, as an
 * upgrade, a downgrade or a failing disk would leave them.
 */

import { join } from 'node:path';

import type { Deployment } from '@engine/domain';
import { decodeSchema, encodeSchema, SCHEMA_DOCUMENT } from '@engine/metadata';
import { LAYOUTS, TABLES } from '@engine/storage';
import { LevelKvStore, openMetadata, PARTITION_STORE } from '@engine/storage-leveldb';

import { send } from '../ask.js';
import { bytes, CODE, message, uint } from '../frames.js';
import { HostileDeployment } from '../hostile-deployment.js';
import { FINE, says } from '../misbehaviour.js';
import { ingressRefusal } from './attempts.js';
import type { Sighting } from './sighting.js';
import type { Stage } from './stage.js';

/** Long enough to stop, change and start again before the next attempt. */
const RETRY_MS = 4_000;

/** The journal of an invocation that waits for its next attempt can no longer be read. */
export async function damagedJournal(stage: Stage): Promise<Sighting[]> {
  const options = { service: 'Damaged', retryMs: RETRY_MS };
  await register(stage, options.service, await HostileDeployment.start(options, { greet: says() }));
  const id = await send(stage.engine, 'Damaged/greet');
  await stage.failureOfInvocation(id, 'RT0007');
  await whileStopped(stage, async (directory) => {
    await damageJournals(join(directory, 'storage'));
  });
  return stage.failureOfInvocation(id, 'RT0006');
}

/** An invocation waits for a deployment of which the server, another one by now, speaks no version. */
export async function versionOfAnotherServer(stage: Stage): Promise<Sighting[]> {
  await register(stage, 'Newer');
  await setVersions(stage, 'Newer', { minProtocolVersion: 8, maxProtocolVersion: 9 });
  return stage.failureOf('Newer/greet', 'RT0013');
}

/** A service whose newest deployment speaks only what an older server spoke: for callers, and for a handler that calls it. */
export async function outdatedDeployment(stage: Stage): Promise<Sighting[]> {
  const outdated = await register(stage, 'Outdated');
  const call = message(
    CODE.call,
    bytes(1, 'Outdated'),
    bytes(2, 'greet'),
    uint(10, 1),
    uint(11, 2),
  );
  const caller = await HostileDeployment.start({ service: 'Caller' }, { greet: says(call) });
  await register(stage, 'Caller', caller);
  await setVersions(stage, 'Outdated', { minProtocolVersion: 1, maxProtocolVersion: 3 });
  const described = await stage.admin('GET', `/deployments/${outdated}`);
  const { info } = (await described.json()) as Extract<Sighting, { place: 'metadata' }>;
  return [
    await ingressRefusal(`${stage.engine.ingressUrl}/engine/call/Outdated/greet`),
    { place: 'metadata', info },
    ...(await stage.failureOf('Caller/greet', 'RT0020')),
  ];
}

async function register(stage: Stage, service: string, given?: HostileDeployment): Promise<string> {
  const deployment =
    given ?? (await HostileDeployment.start({ service }, { greet: says(...FINE) }));
  return stage.register(stage.use(deployment).uri);
}

async function setVersions(
  stage: Stage,
  service: string,
  versions: Pick<Deployment, 'minProtocolVersion' | 'maxProtocolVersion'>,
): Promise<void> {
  await whileStopped(stage, async (directory) => {
    const { metadata, close } = await openMetadata(join(directory, 'meta'));
    try {
      const entry = await metadata.get(SCHEMA_DOCUMENT);
      if (entry === undefined) throw new Error('there is no schema');
      const deployments = decodeSchema(entry.value).deployments.map((deployment) =>
        deployment.services.some(({ name }) => name === service)
          ? { ...deployment, ...versions }
          : deployment,
      );
      await metadata.put(SCHEMA_DOCUMENT, encodeSchema({ deployments }), entry.version);
    } finally {
      await close();
    }
  });
}

/** Every journal row becomes noise. */
async function damageJournals(directory: string): Promise<void> {
  const store = await LevelKvStore.open({ directory, kind: PARTITION_STORE });
  try {
    const table = (number: number): Uint8Array =>
      Uint8Array.of(LAYOUTS.partition, 0, 0, 0, 0, number);
    const rows = await store.scan({
      gte: table(TABLES.journal),
      lt: table(TABLES.journal + 1),
      limit: 1_000,
    });
    if (rows.length === 0) throw new Error('there is no journal');
    const batch = store.batch();
    for (const { key, value } of rows) batch.put(key, new Uint8Array(value.length).fill(0xff));
    await batch.write({ sync: true });
  } finally {
    await store.close();
  }
}

async function whileStopped(
  stage: Stage,
  change: (directory: string) => Promise<void>,
): Promise<void> {
  await stage.engine.stop();
  await change(join(stage.engine.directory, 'node-1'));
  await stage.engine.restart();
}
