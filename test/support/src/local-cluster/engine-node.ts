import { createWriteStream } from 'node:fs';
import { join } from 'node:path';

import { Child } from '../child.js';
import { waitUntil } from '../wait-until.js';

const LAUNCHER = join(import.meta.dirname, '../../../../packages/server/bin/engine');
/** The line with which a process says that it takes work. */
const READY = /\bready version=/;
const START_LIMIT_MS = 60_000;

export interface EngineNodeOptions {
  readonly name: string;
  readonly env: NodeJS.ProcessEnv;
  /** Put in front of the command. */
  readonly launcher: readonly string[];
  /** Gets everything it says, over all its starts. */
  readonly logFile: string;
  /** Each of them is well when the process takes work. */
  readonly healthUrls: readonly string[];
}

/** One engine process of a cluster; it can end and be started again as the same node. */
export class EngineNode {
  readonly options: EngineNodeOptions;
  #child: Child | undefined;
  #saysReady = false;

  constructor(options: EngineNodeOptions) {
    this.options = options;
  }

  get child(): Child | undefined {
    return this.#child;
  }

  get isRunning(): boolean {
    return this.#child?.hasExited === false;
  }

  launch(): Child {
    if (this.isRunning) throw new Error(`${this.options.name} runs already`);
    const [command = LAUNCHER, ...args] = [...this.options.launcher, LAUNCHER, 'server'];
    const child = new Child(command, args, { env: this.options.env });
    const file = createWriteStream(this.options.logFile, { flags: 'a' });
    child.process.stdout?.pipe(file, { end: false });
    child.process.stderr?.pipe(file, { end: false });
    child.process.once('close', () => file.end());
    this.#child = child;
    this.#saysReady = false;
    for (const stream of [child.process.stdout, child.process.stderr]) {
      stream?.on('data', () => {
        this.#saysReady ||= this.#child === child && READY.test(child.output);
      });
    }
    return child;
  }

  /** Until it says that it is ready and its pages are well. Rejects with its last words when it ends before. */
  async untilUp(): Promise<void> {
    const { name, healthUrls } = this.options;
    const isUp = async (): Promise<boolean> => {
      const { child } = this;
      if (child === undefined || child.hasExited) {
        throw new Error(`${name} has ended:\n${child?.output ?? ''}`);
      }
      if (!this.#saysReady) return false;
      for (const url of healthUrls) if (!(await isOk(url))) return false;
      return true;
    };
    await waitUntil(`${name} is up`, isUp, START_LIMIT_MS);
  }
}

async function isOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(1_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
