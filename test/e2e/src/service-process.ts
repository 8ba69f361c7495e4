import { join } from 'node:path';

import { Child, freePort, waitUntil } from '@engine-test/support';

export interface ServiceOptions {
  /** 0 = a free one. */
  readonly port?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** The services of a file beside this one as a process, and what it told us. */
export class ServiceProcess implements AsyncDisposable {
  readonly port: number;
  readonly uri: string;
  readonly #child: Child;
  readonly #happened: string[] = [];

  private constructor(port: number, file: string, env: Readonly<Record<string, string>>) {
    this.port = port;
    this.uri = `http://127.0.0.1:${String(port)}`;
    const own = { PORT: String(port), RESTATE_LOGGING: 'ERROR', NODE_NO_WARNINGS: '1' };
    // Types are stripped by the pinned Node.
    this.#child = new Child(process.execPath, [join(import.meta.dirname, file)], {
      env: { ...process.env, ...own, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#child.process.on('message', (message: { happened: string }) => {
      this.#happened.push(message.happened);
    });
  }

  static async start(
    file = 'services.ts',
    { port = 0, env = {} }: ServiceOptions = {},
  ): Promise<ServiceProcess> {
    const service = new ServiceProcess(port === 0 ? await freePort() : port, file, env);
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
