/** The services of the load, each file a process of its own, all with a line into the history. */

import { join } from 'node:path';

import { Child, freePort, waitUntil } from '@engine-test/support';

import type { LedgerEntry } from '../history/event.js';
import type { History } from '../history/history.js';

interface Message {
  readonly number: number;
  readonly entry?: LedgerEntry;
}

const FILES = ['object-services.ts', 'journey-services.ts'];

export class ServiceHost implements AsyncDisposable {
  readonly uri: string;
  readonly #child: Child;
  #isListening = false;

  private constructor(file: string, port: number, history: History | undefined) {
    this.uri = `http://127.0.0.1:${String(port)}`;
    const own = { PORT: String(port), RESTATE_LOGGING: 'ERROR', NODE_NO_WARNINGS: '1' };
    // Types are stripped by the pinned Node.
    this.#child = new Child(process.execPath, [join(import.meta.dirname, file)], {
      env: { ...process.env, ...own },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#child.process.on('message', ({ number, entry }: Message) => {
      this.#isListening = true;
      if (entry === undefined) return;
      history?.record(entry);
      if (this.#child.process.connected) this.#child.process.send(number);
    });
  }

  /** One that tells nothing. */
  static startAlone(file: string): Promise<ServiceHost> {
    return ServiceHost.start(file, undefined);
  }

  static async start(file: string, history: History | undefined): Promise<ServiceHost> {
    const host = new ServiceHost(file, await freePort(), history);
    await waitUntil(`${file} listens`, () => {
      if (host.#child.hasExited) throw new Error(`the services ended:\n${host.output}`);
      return host.#isListening;
    });
    return host;
  }

  /** All services of the load. */
  static startAll(history: History): Promise<ServiceHost[]> {
    return Promise.all(FILES.map((file) => ServiceHost.start(file, history)));
  }

  get pid(): number | undefined {
    return this.#child.process.pid;
  }

  get output(): string {
    return this.#child.output;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child.end();
  }
}
