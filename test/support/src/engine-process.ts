import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Child } from './child.js';
import { freePort } from './free-port.js';
import { registerDeployment } from './register.js';
import { waitUntil } from './wait-until.js';

const LAUNCHER = join(import.meta.dirname, '..', '..', '..', 'packages', 'server', 'bin', 'engine');

/** The built engine as a process of its own, with a directory of its own. It can be killed and started again. */
export class EngineProcess implements AsyncDisposable {
  readonly ingressUrl: string;
  readonly adminUrl: string;
  readonly #dir: string;
  readonly #env: NodeJS.ProcessEnv;
  #child: Child | undefined;

  private constructor(
    ports: { readonly ingress: number; readonly admin: number },
    env: NodeJS.ProcessEnv,
  ) {
    this.#dir = mkdtempSync(join(tmpdir(), 'engine-e2e-'));
    this.ingressUrl = `http://127.0.0.1:${String(ports.ingress)}`;
    this.adminUrl = `http://127.0.0.1:${String(ports.admin)}`;
    this.#env = {
      ...process.env,
      ENGINE_BASE_DIR: this.#dir,
      ENGINE_INGRESS__BIND_PORT: String(ports.ingress),
      ENGINE_ADMIN__BIND_PORT: String(ports.admin),
      ...env,
    };
  }

  /** Starts on free ports and waits until it takes work. `env`: configuration of this engine. */
  static async start(env: NodeJS.ProcessEnv = {}): Promise<EngineProcess> {
    const ports = { ingress: await freePort(), admin: await freePort() };
    const engine = new EngineProcess(ports, env);
    await engine.restart();
    return engine;
  }

  /**
   * Starts on ports of its own that it will hardly reach: `env` is meant to keep it from starting. Resolves when it has ended, with
   * its exit status and what it said.
   */
  static async refused(
    env: NodeJS.ProcessEnv,
  ): Promise<{ readonly status: number | null; readonly output: string }> {
    await using child = new Child(LAUNCHER, ['server'], {
      env: {
        ...process.env,
        ENGINE_INGRESS__BIND_PORT: '0',
        ENGINE_ADMIN__BIND_PORT: '0',
        ...env,
      },
    });
    await waitUntil('the engine refuses to start', () => child.hasExited);
    return { status: child.process.exitCode, output: child.output };
  }

  /** Starts again on the same ports and data, and waits until it takes work. */
  async restart(): Promise<void> {
    const child = new Child(LAUNCHER, ['server'], { env: this.#env });
    this.#child = child;
    await waitUntil('the engine takes work', async () => {
      if (child.hasExited) throw new Error(`the engine ended:\n${child.output}`);
      return (await isOk(`${this.adminUrl}/health`)) && isOk(`${this.ingressUrl}/engine/health`);
    });
  }

  /** Ends the process as a crash would. */
  async crash(): Promise<void> {
    await this.#child?.end('SIGKILL');
  }

  /** Ends the process in good order. Its last words are in `output`. */
  async stop(): Promise<void> {
    await this.#child?.end('SIGTERM');
  }

  /** The base directory of its data. */
  get directory(): string {
    return this.#dir;
  }

  get pid(): number | undefined {
    return this.#child?.process.pid;
  }

  get isRunning(): boolean {
    return this.#child?.hasExited === false;
  }

  /** What the process said last. */
  get output(): string {
    return this.#child?.output ?? '';
  }

  /** Registers a deployment; it must succeed. */
  async register(uri: string): Promise<void> {
    await registerDeployment(this.adminUrl, uri);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child?.end('SIGKILL');
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

async function isOk(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}
