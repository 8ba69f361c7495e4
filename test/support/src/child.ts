import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';

const OUTPUT_CHARS_MAX = 20_000;

// Nothing is left behind when the test itself ends early.
const running = new Set<Child>();
process.once('exit', () => {
  for (const child of running) child.process.kill('SIGKILL');
});

/** A process of a test: keeps the end of what it said, and is gone when disposed. */
export class Child implements AsyncDisposable {
  readonly process: ChildProcess;
  readonly #exited: Promise<void>;
  #output = '';

  constructor(command: string, args: readonly string[], options: SpawnOptions = {}) {
    this.process = spawn(command, [...args], { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    const keep = (chunk: Buffer): void => {
      this.#output = (this.#output + chunk.toString()).slice(-OUTPUT_CHARS_MAX);
    };
    this.process.stdout?.on('data', keep);
    this.process.stderr?.on('data', keep);
    running.add(this);
    this.#exited = new Promise((resolve) => {
      const onEnd = (): void => {
        running.delete(this);
        resolve();
      };
      this.process.once('exit', onEnd);
      this.process.once('error', onEnd);
    });
  }

  /** The end of standard output and standard error, in the order of arrival. */
  get output(): string {
    return this.#output;
  }

  get hasExited(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  /** Resolves when the process is gone, with its exit status; undefined when a signal ended it. */
  async ended(): Promise<number | undefined> {
    await this.#exited;
    return this.process.exitCode ?? undefined;
  }

  /** Sends a signal and waits until the process is gone. */
  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!this.hasExited) this.process.kill(signal);
    await this.#exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}
