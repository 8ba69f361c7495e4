/** ObjectStore in a folder: of this machine, or one that every machine mounts. */

import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';

import { EngineError, isEngineError } from '@engine/domain';
import { OBJECT_BYTES_MAX, requireObjectName, type ObjectStore } from '@engine/snapshots';

/** What is being written stands here under names of its own; `~` is in no object's name. */
const INCOMING = '~incoming';

/** What a process that died was writing is deleted after so long. */
const INCOMING_MS_MAX = 86_400_000;

/** A directory may be deleted by another process just when it was made. */
const PUT_TRIES_MAX = 50;

export class FolderObjectStore implements ObjectStore {
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
  }

  /** Makes the folder where there is none. `now`: in ms since 1970. Throws EngineError `storage` when it cannot be written. */
  static async open(root: string, now: number): Promise<FolderObjectStore> {
    await coded(async () => {
      const incoming = join(root, INCOMING);
      await makeDirectory(incoming);
      for (const name of await readdir(incoming)) {
        const path = join(incoming, name);
        const info = await stat(path).catch(() => undefined);
        if (info !== undefined && now - info.mtimeMs > INCOMING_MS_MAX)
          await rm(path, { force: true });
      }
    });
    return new FolderObjectStore(root);
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    requireObjectName(name);
    if (bytes.length > OBJECT_BYTES_MAX)
      throw new EngineError('storage', 'the object is too large');
    await coded(async () => {
      const incoming = join(this.#root, INCOMING, randomUUID());
      try {
        await writeSynced(incoming, bytes);
        await this.#moveIn(incoming, join(this.#root, name));
      } finally {
        await rm(incoming, { force: true });
      }
    });
  }

  async get(name: string): Promise<Uint8Array | undefined> {
    return coded(() =>
      orMissing(async () => {
        const path = join(this.#root, name);
        const { size } = await stat(path);
        if (size > OBJECT_BYTES_MAX) throw new EngineError('storage', 'the object is too large');
        return await readFile(path);
      }),
    );
  }

  async list(prefix: string): Promise<readonly string[]> {
    return coded(async () => {
      const options = { recursive: true, withFileTypes: true } as const;
      const found = await orMissing(() => readdir(join(this.#root, prefix), options));
      const files = (found ?? []).filter((entry) => entry.isFile());
      return files
        .map((file) => relative(this.#root, join(file.parentPath, file.name)).replaceAll(sep, '/'))
        .filter((name) => !name.startsWith(INCOMING))
        .sort();
    });
  }

  async delete(name: string): Promise<void> {
    await coded(async () => {
      const path = join(this.#root, name);
      await orMissing(() => rm(path));
      await this.#removeEmpty(dirname(path));
    });
  }

  async #moveIn(incoming: string, path: string): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        await makeDirectory(dirname(path));
        await rename(incoming, path);
        await syncDirectory(dirname(path));
        return;
      } catch (error) {
        if (!isMissing(error) || tries === PUT_TRIES_MAX) throw error;
      }
    }
  }

  /** Directories are no objects: they go with their last one. */
  async #removeEmpty(directory: string): Promise<void> {
    for (let at = directory; at.length > this.#root.length; at = dirname(at)) {
      try {
        await rmdir(at);
      } catch {
        return;
      }
    }
  }
}

async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Durable with all directories above it that were missing. */
async function makeDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true });
  if (first === undefined) return;
  for (let at = directory; at.length >= first.length; at = dirname(at)) {
    await syncDirectory(dirname(at));
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const opened = await open(directory, 'r');
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}

async function orMissing<T>(body: () => Promise<T>): Promise<T | undefined> {
  try {
    return await body();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Also what is no file or is below a file. */
function isMissing(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR' || code === 'ERR_FS_EISDIR';
}

async function coded<T>(body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (cause) {
    if (isEngineError(cause)) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EngineError('storage', `the folder of snapshots fails: ${reason}`, { cause });
  }
}
