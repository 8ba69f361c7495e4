import { join } from 'node:path';

import { Child, freePort, waitUntil } from '@engine-test/support';

/** The services of `services.ts` as a process, and what it told us. */
export class ServiceProcess implements AsyncDisposable {
  readonly uri: string;
  readonly #child: Child;
  readonly #happened: string[] = [];

  private constructor(port: number) {
    this.uri = `http://127.0.0.1:${String(port)}`;
    // Types are stripped by the pinned Node; the file has no imports of its own.
    this.#child = new Child(process.execPath, [join(import.meta.dirname, 'services.ts')], {
      env: { ...process.env, PORT: String(port), RESTATE_LOGGING: 'ERROR', NODE_NO_WARNINGS: '1' },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#child.process.on('message', (message: { happened: string }) => {
      this.#happened.push(message.happened);
    });
  }

  static async start(): Promise<ServiceProcess> {
    const service = new ServiceProcess(await freePort());
    await service.until('listening');
    return service;
  }

  /** How often a line of code ran. */
  count(name: string): number {
    return this.#happened.filter((entry) => entry === name).length;
  }

  /** Waits until a line of code ran `times` times. */
  async until(name: string, times = 1, limitMs?: number): Promise<void> {
    const hasHappened = (): boolean => {
      if (this.#child.hasExited) throw new Error(`the services ended:\n${this.#child.output}`);
      return this.count(name) >= times;
    };
    await waitUntil(`${name} happens ${String(times)} times`, hasHappened, limitMs);
  }

  /** The rest of every event that starts with `prefix`, in the order in which they happened. */
  all(prefix: string): readonly string[] {
    return this.#happened
      .filter((entry) => entry.startsWith(prefix))
      .map((entry) => entry.slice(prefix.length));
  }

  /** The rest of the first event that starts with `prefix`. */
  restOf(prefix: string): Promise<string> {
    return waitUntil(`${prefix}… happens`, () =>
      this.#happened.find((entry) => entry.startsWith(prefix))?.slice(prefix.length),
    );
  }

  open(gate: string): void {
    this.#child.process.send({ open: gate });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child.end();
  }
}
