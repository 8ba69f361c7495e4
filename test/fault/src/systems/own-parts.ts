import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ClockFile } from './clock-file.js';
import { SmallDisk } from './small-disk.js';

/** Of a worker's own store. */
const DISK_MEGABYTES = 384;
/** Of all nats-servers together. */
const LOG_DISK_MEGABYTES = 4_096;

/** What this test gives to the processes: clocks that can be moved, and disks that can be filled. */
export class OwnParts implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'engine-fault-'));
  readonly logDisk = SmallDisk.mount(join(this.directory, 'disk-nats'), LOG_DISK_MEGABYTES);
  readonly withCuts: boolean;
  readonly #clocks = new Map<string, ClockFile>();
  readonly #disks = new Map<string, SmallDisk | undefined>();

  constructor(withCuts: boolean) {
    this.withCuts = withCuts;
  }

  clock(name: string): ClockFile {
    const known = this.#clocks.get(name) ?? new ClockFile(join(this.directory, `clock-${name}`));
    this.#clocks.set(name, known);
    return known;
  }

  /** Of workers, where something may be mounted. */
  disk(name: string): SmallDisk | undefined {
    if (this.#disks.has(name)) return this.#disks.get(name);
    const disk = name.startsWith('worker')
      ? SmallDisk.mount(join(this.directory, `disk-${name}`), DISK_MEGABYTES)
      : undefined;
    this.#disks.set(name, disk);
    return disk;
  }

  envOf(name: string): Readonly<Record<string, string>> {
    const disk = this.disk(name);
    const env = this.clock(name).env;
    return disk === undefined ? env : { ...env, ENGINE_BASE_DIR: disk.path };
  }

  [Symbol.dispose](): void {
    this.logDisk?.[Symbol.dispose]();
    for (const disk of this.#disks.values()) disk?.[Symbol.dispose]();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
