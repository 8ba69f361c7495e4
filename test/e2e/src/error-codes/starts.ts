/** Codes with which a process refuses to start. Each refusal leaves the data as it found them: the tests compare every byte. */

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect } from '@jest/globals';
import { EngineProcess } from '@engine-test/support';
import { SCHEMA_DOCUMENT } from '@engine/metadata';
import { openMetadata } from '@engine/storage-leveldb';

import type { Sighting } from './sighting.js';

/** Starts `engine server` in the hope that it will not. */
async function refusal(env: NodeJS.ProcessEnv): Promise<Sighting> {
  const { status, output } = await EngineProcess.refused({ ENGINE_LOG_LEVEL: 'info', ...env });
  return { place: 'start', status, output };
}

/** Starts on a directory and compares it with what it was before. */
async function untouchedRefusal(root: string, env: NodeJS.ProcessEnv): Promise<Sighting> {
  const before = await checksums(root);
  const sighting = await refusal(env);
  expect(await checksums(root)).toEqual(before);
  return sighting;
}

export async function unreadableConfiguration(): Promise<Sighting[]> {
  await using directory = await scratch();
  const file = join(directory.path, 'engine.toml');
  await writeFile(file, '[worker.invoker]\nabort_timeout = "soon"\n');
  const sighting = await refusal({ ENGINE_BASE_DIR: directory.path, ENGINE_CONFIG: file });
  expect(sighting).toHaveProperty('output', expect.stringContaining(`${file} line 2`));
  const variable = { ENGINE_WORKER__NO_SUCH_KEY: '1' };
  return [sighting, await refusal({ ENGINE_BASE_DIR: directory.path, ...variable })];
}

/** A port of each role that somebody has, and an address of another machine. */
export async function takenAddress(): Promise<Sighting[]> {
  await using directory = await scratch();
  const env = { ENGINE_BASE_DIR: directory.path };
  const server = createServer().listen(0);
  await once(server, 'listening');
  const port = String((server.address() as AddressInfo).port);
  try {
    return [
      await refusal({ ...env, ENGINE_INGRESS__BIND_PORT: port }),
      await refusal({ ...env, ENGINE_ADMIN__BIND_PORT: port }),
      await refusal({ ...env, ENGINE_INGRESS__BIND_ADDRESS: '192.0.2.1:8080' }),
      await refusal({ ...env, ENGINE_ADMIN__BIND_ADDRESS: '192.0.2.1:9070' }),
    ];
  } finally {
    server.close();
  }
}

/** A second server on the directories of a first one, on both or on one of them. */
export async function lockedDirectories(): Promise<Sighting[]> {
  await using engine = await EngineProcess.start();
  await using directory = await scratch();
  const { meta, storage } = directoriesOf(engine.directory);
  const sightings = [
    await refusal({ ENGINE_BASE_DIR: engine.directory }),
    await refusal({ ENGINE_BASE_DIR: directory.path, ENGINE_META__STORAGE_PATH: meta }),
    await refusal({
      ENGINE_BASE_DIR: directory.path,
      ENGINE_WORKER__STORAGE_ROCKSDB__PATH: storage,
    }),
  ];
  expect(engine.isRunning).toBe(true);
  return sightings;
}

/** A worker directory without a format, and one of a newer server; the key in both spellings. */
export async function foreignStorage(): Promise<Sighting[]> {
  return foreignDirectories('storage', ['without', 'newer'], (path) => [
    `[worker.storage_rocksdb]\npath = "${path}"\n`,
    `[worker.storage-rocksdb]\npath = "${path}"\n`,
  ]);
}

/** Metadata without a format; the key in both spellings. */
export function metadataWithoutFormat(): Promise<Sighting[]> {
  return foreignMetadata('without');
}

/** Metadata in the format of a newer server, and a document of one in a directory that can be read. */
export async function newerMetadata(): Promise<Sighting[]> {
  await using engine = await EngineProcess.start();
  await engine.stop();
  const { metadata, close } = await openMetadata(directoriesOf(engine.directory).meta);
  await metadata.put(SCHEMA_DOCUMENT, Buffer.from('{"version":99,"moved":true}'), 'absent');
  await close();
  return [
    ...(await foreignMetadata('newer')),
    await refusal({ ENGINE_BASE_DIR: engine.directory }),
  ];
}

function foreignMetadata(state: 'without' | 'newer'): Promise<Sighting[]> {
  return foreignDirectories('meta', [state], (path) => [
    `[meta]\nstorage_path = "${path}"\n`,
    `[meta]\nstorage-path = "${path}"\n`,
  ]);
}

/** Real data of a server whose FORMAT is gone or that of a later version, moved to a place of its own. */
async function foreignDirectories(
  which: 'meta' | 'storage',
  states: readonly ('without' | 'newer')[],
  configurations: (path: string) => readonly string[],
): Promise<Sighting[]> {
  await using engine = await EngineProcess.start();
  await engine.stop();
  const sightings: Sighting[] = [];
  for (const state of states) {
    await using directory = await scratch();
    const path = join(directory.path, 'moved');
    await cp(engine.directory, join(directory.path, 'base'), { recursive: true });
    await cp(directoriesOf(engine.directory)[which], path, { recursive: true });
    if (state === 'without') await rm(join(path, 'FORMAT'));
    else await writeFile(join(path, 'FORMAT'), '999\n');
    for (const [number, text] of configurations(path).entries()) {
      const file = join(directory.path, `${String(number)}.toml`);
      await writeFile(file, text);
    }
    for (const number of configurations(path).keys()) {
      const env = {
        ENGINE_BASE_DIR: join(directory.path, 'base'),
        ENGINE_CONFIG: join(directory.path, `${String(number)}.toml`),
      };
      sightings.push(await untouchedRefusal(directory.path, env));
    }
  }
  return sightings;
}

/** Metadata with a byte of the stored schema changed, in whichever file it stands. */
export async function damagedMetadata(): Promise<Sighting[]> {
  await using engine = await EngineProcess.start();
  await engine.stop();
  const { meta } = directoriesOf(engine.directory);
  let changed = 0;
  for (const name of await readdir(meta)) {
    const file = join(meta, name);
    const bytes = await readFile(file);
    const at = bytes.indexOf('localcluster');
    if (at === -1) continue;
    bytes[at] = (bytes[at] ?? 0) ^ 0x20;
    await writeFile(file, bytes);
    changed += 1;
  }
  expect(changed).toBeGreaterThan(0);
  const env = { ENGINE_BASE_DIR: engine.directory };
  // The second start finds no less than the first one did.
  return [await refusal(env), await refusal(env)];
}

function directoriesOf(base: string): { readonly meta: string; readonly storage: string } {
  return { meta: join(base, 'node-1', 'meta'), storage: join(base, 'node-1', 'storage') };
}

/** Path → checksum of all files below a directory. */
async function checksums(root: string): Promise<Record<string, string>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const sums: Record<string, string> = {};
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name);
    sums[path] = createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
  }
  return sums;
}

async function scratch(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'engine-refused-'));
  await mkdir(path, { recursive: true });
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}
