import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '@engine/runtime';
import { objectStoreContract } from '@engine/snapshots/contract';

import { FolderObjectStore } from './folder-object-store.js';
import { openObjectStore } from './open-object-store.js';
import { S3ObjectStore } from './s3-object-store.js';

objectStoreContract('FolderObjectStore', async () => {
  const root = await mkdtemp(join(tmpdir(), 'engine-objects-'));
  const open = () => FolderObjectStore.open(join(root, 'a'), systemClock.now());
  return { open, reopen: open, dispose: () => rm(root, { recursive: true }) };
});

describe('FolderObjectStore', () => {
  let root: string;
  const now = Date.UTC(2030, 0, 1);
  const code = (value: string) => expect.objectContaining({ code: value });

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'engine-objects-'));
  });

  afterEach(() => rm(root, { recursive: true }));

  it('clears away what a process left that died long ago', async () => {
    const incoming = join(root, '~incoming');
    await mkdir(incoming);
    for (const [name, hours] of [
      ['old', 25],
      ['young', 23],
    ] as const) {
      await writeFile(join(incoming, name), 'x');
      const at = new Date(now - hours * 3_600_000);
      await utimes(join(incoming, name), at, at);
    }
    const store = await FolderObjectStore.open(root, now);
    expect(await readdir(incoming)).toEqual(['young']);
    expect(await store.list('')).toEqual([]);
  });

  it('leaves no empty directories and no half files', async () => {
    const store = await FolderObjectStore.open(root, now);
    await store.put('a/b/c', Uint8Array.of(1));
    await store.put('a/d', Uint8Array.of(1));
    await store.delete('a/b/c');
    expect(await readdir(join(root, 'a'))).toEqual(['d']);
    await store.delete('a/d');
    expect(await readdir(root)).toEqual(['~incoming']);
    expect(await readdir(join(root, '~incoming'))).toEqual([]);
  });

  it('many that put and delete in one directory do not disturb each other', async () => {
    const store = await FolderObjectStore.open(root, now);
    const one = async (name: string): Promise<void> => {
      for (let round = 0; round < 20; round += 1) {
        await store.put(`x/y/${name}`, Uint8Array.of(round));
        await store.delete(`x/y/${name}`);
      }
    };
    await Promise.all(['a', 'b', 'c', 'd'].map(one));
    expect(await store.list('')).toEqual([]);
  });

  it('says `storage` when it cannot write', async () => {
    await writeFile(join(root, 'file'), 'x');
    const opening = FolderObjectStore.open(join(root, 'file', 'below'), now);
    await expect(opening).rejects.toThrow(code('storage'));
  });
});

describe('openObjectStore', () => {
  it('knows folders and buckets, and nothing else', async () => {
    const root = await mkdtemp(join(tmpdir(), 'engine-objects-'));
    const open = (destination: string) => openObjectStore(destination, {}, { clock: systemClock });
    expect(await open(root)).toBeInstanceOf(FolderObjectStore);
    expect(await open(pathToFileURL(root).href)).toBeInstanceOf(FolderObjectStore);
    expect(await open('s3://bucket/some/where/')).toBeInstanceOf(S3ObjectStore);
    expect(await open('s3://bucket')).toBeInstanceOf(S3ObjectStore);
    for (const wrong of ['', 'a/b', 's3:///x', 'http://x', 'file://host/x']) {
      await expect(open(wrong)).rejects.toThrow(expect.objectContaining({ code: 'bad-request' }));
    }
    await rm(root, { recursive: true });
  });
});
