import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { kvStoreContract, rangeReaderContract } from '@engine/storage/contract';

import { checkDirectory, METADATA_STORE, PARTITION_STORE } from './format.js';
import { LevelKvStore } from './level-kv-store.js';

const harness = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'engine-level-'));
  const open = () => LevelKvStore.open({ directory, kind: PARTITION_STORE });
  return { open, reopen: open, dispose: () => rm(directory, { recursive: true }) };
};

kvStoreContract('LevelKvStore', harness);
rangeReaderContract('LevelKvStore', harness);

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
    expect(await readFile(join(directory, 'FORMAT'), 'utf8')).toBe('1 partitions\n');
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

  /** Name → checksum of every file. */
  const contents = async (): Promise<Record<string, string>> => {
    const names = (await readdir(directory)).sort();
    const sums = names.map(async (name) => {
      const bytes = await readFile(join(directory, name));
      return [name, createHash('sha256').update(bytes).digest('hex')];
    });
    return Object.fromEntries(await Promise.all(sums)) as Record<string, string>;
  };

  it('RT0009 and META0011 when data has no format; no byte is touched', async () => {
    await (await open()).close();
    await rm(join(directory, 'FORMAT'));
    const before = await contents();
    await expect(open()).rejects.toThrow(code('RT0009'));
    await expect(open(METADATA_STORE)).rejects.toThrow(code('META0011'));
    expect(await contents()).toEqual(before);
  });

  it.each(['2 partitions', '0', '', 'one', '1 elsewhere', '2', '-1', '1.0', '1 partitions x'])(
    'RT0009 and META0010 when the format is %j; no byte is touched',
    async (text) => {
      await (await open()).close();
      await writeFile(join(directory, 'FORMAT'), `${text}\n`);
      const before = await contents();
      await expect(open()).rejects.toThrow(code('RT0009'));
      await expect(open(METADATA_STORE)).rejects.toThrow(code('META0010'));
      expect(await contents()).toEqual(before);
      await writeFile(join(directory, 'FORMAT'), '1 partitions\n');
      await (await open()).close();
    },
  );

  it('reads a format that does not say whose data it is', async () => {
    await (await open()).close();
    await writeFile(join(directory, 'FORMAT'), '1\n');
    await (await open()).close();
    await (await open(METADATA_STORE)).close();
  });

  it('META0010 and RT0009 when each finds the data of the other', async () => {
    await (await open()).close();
    await expect(open(METADATA_STORE)).rejects.toThrow(code('META0010'));
    await rm(directory, { recursive: true });
    await (await open(METADATA_STORE)).close();
    await expect(open()).rejects.toThrow(code('RT0009'));
  });

  it('is not made by a check', async () => {
    expect(await checkDirectory(directory, PARTITION_STORE)).toBe(false);
    expect(await readdir(root)).toEqual([]);
    await (await open()).close();
    expect(await checkDirectory(directory, PARTITION_STORE)).toBe(true);
  });

  it('META0005 and a storage error when the database is damaged, with what was found', async () => {
    await (await open(METADATA_STORE)).close();
    await writeFile(join(directory, 'CURRENT'), 'MANIFEST-999999\n');
    await expect(open(METADATA_STORE)).rejects.toThrow(code('META0005'));
    await rm(join(directory, 'FORMAT'));
    await writeFile(join(directory, 'FORMAT'), '1 partitions\n');
    await expect(open()).rejects.toThrow(code('storage'));
    await expect(open()).rejects.toThrow('MANIFEST-999999');
  });
});
