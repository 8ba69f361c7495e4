import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { kvStoreContract } from '@engine/storage/contract';

import { METADATA_STORE, PARTITION_STORE } from './format.js';
import { LevelKvStore } from './level-kv-store.js';

kvStoreContract('LevelKvStore', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'engine-level-'));
  const open = () => LevelKvStore.open({ directory, kind: PARTITION_STORE });
  return { open, reopen: open, dispose: () => rm(directory, { recursive: true }) };
});

describe('the directory of a store', () => {
  let root: string;
  let directory: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'engine-level-'));
    directory = join(root, 'a', 'store');
  });

  afterEach(() => rm(root, { recursive: true }));

  const open = (kind = PARTITION_STORE) => LevelKvStore.open({ directory, kind });
  const code = (value: string) => expect.objectContaining({ code: value });

  it('is made with its format, and opened again', async () => {
    await (await open()).close();
    expect(await readFile(join(directory, 'FORMAT'), 'utf8')).toBe('1\n');
    await (await open()).close();
  });

  it('RT0005 when it is open already', async () => {
    const store = await open();
    await expect(open()).rejects.toThrow(code('RT0005'));
    await store.close();
  });

  it('a fresh volume may hold lost+found', async () => {
    await mkdir(join(directory, 'lost+found'), { recursive: true });
    await (await open()).close();
  });

  it('RT0009 and META0011 when data has no format; nothing is touched', async () => {
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, 'CURRENT'), 'MANIFEST-000001\n');
    await expect(open()).rejects.toThrow(code('RT0009'));
    await expect(open(METADATA_STORE)).rejects.toThrow(code('META0011'));
    expect(await readdir(directory)).toEqual(['CURRENT']);
  });

  it('RT0009 and META0010 when the format is of another version; nothing is touched', async () => {
    await (await open()).close();
    await writeFile(join(directory, 'FORMAT'), '2\n');
    const before = await readdir(directory);
    await expect(open()).rejects.toThrow(code('RT0009'));
    await expect(open(METADATA_STORE)).rejects.toThrow(code('META0010'));
    expect(await readdir(directory)).toEqual(before);
    await writeFile(join(directory, 'FORMAT'), '1\n');
    await (await open()).close();
  });
});
