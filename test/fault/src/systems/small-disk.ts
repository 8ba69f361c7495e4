/** A file system of its own with little room, so that it can be filled without harm. Needs the right to mount. */

import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const CHUNK = Buffer.alloc(64 * 1024, 1);

export class SmallDisk implements Disposable {
  readonly path: string;
  readonly #filler: string;

  private constructor(path: string) {
    this.path = path;
    this.#filler = join(path, 'filler');
  }

  /** Undefined where nothing may be mounted. */
  static mount(path: string, megabytes: number): SmallDisk | undefined {
    mkdirSync(path, { recursive: true });
    const size = `size=${String(megabytes)}m`;
    const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', size, 'tmpfs', path]);
    return status === 0 ? new SmallDisk(path) : undefined;
  }

  /** Takes all the room there is. */
  fill(): void {
    const file = openSync(this.#filler, 'a');
    try {
      for (;;) writeSync(file, CHUNK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(file);
    }
  }

  free(): void {
    rmSync(this.#filler, { force: true });
  }

  [Symbol.dispose](): void {
    spawnSync('umount', ['-l', this.path]);
  }
}
