/** What the cases share: one engine, and helpers that look where people look. */

import { EngineProcess, waitUntil } from '@engine-test/support';
import type { ErrorCode } from '@engine/domain';

import { invocation, send, type InvocationRow } from '../ask.js';
import type { ErrorBody, Sighting } from './sighting.js';

/** Failures show in the log at level info; the tests' own level is `silent`. */
const LOGGING = { ENGINE_LOG_LEVEL: 'info', ENGINE_LOG_FILTER: undefined };

export class Stage implements AsyncDisposable {
  readonly engine: EngineProcess;
  readonly #parts: AsyncDisposableStack;

  private constructor(engine: EngineProcess, parts: AsyncDisposableStack) {
    this.engine = engine;
    this.#parts = parts;
  }

  /** `env`: configuration of the engine. */
  static async open(env: NodeJS.ProcessEnv = {}): Promise<Stage> {
    const parts = new AsyncDisposableStack();
    return new Stage(parts.use(await EngineProcess.start({ ...LOGGING, ...env })), parts);
  }

  /** Keeps a part until the curtain falls. */
  use<Part extends AsyncDisposable>(part: Part): Part {
    return this.#parts.use(part);
  }

  /** Asks the admin interface; `method` and `path` as in `PUT /deployments/…`. */
  async admin(method: string, path: string, body?: unknown): Promise<Response> {
    return fetch(`${this.engine.adminUrl}${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
  }

  /** As `admin`; the answer is an error. */
  async adminRefusal(method: string, path: string, body?: unknown): Promise<Sighting> {
    const response = await this.admin(method, path, body);
    return {
      place: 'admin',
      status: response.status,
      body: (await response.json()) as ErrorBody,
    };
  }

  /** Registers an endpoint, which must succeed, and gives the id of the deployment. */
  async register(uri: string, options: object = {}): Promise<string> {
    const response = await this.admin('POST', '/deployments', { uri, ...options });
    if (!response.ok) throw new Error(`${uri} is refused: ${await response.text()}`);
    return ((await response.json()) as { id: string }).id;
  }

  /** Sends, and waits until the invocation has failed with the code, or paused or ended otherwise. */
  async failureOf(path: string, code: ErrorCode): Promise<Sighting[]> {
    return this.failureOfInvocation(await send(this.engine, path), code);
  }

  async failureOfInvocation(id: string, code: ErrorCode): Promise<Sighting[]> {
    const isOver = (row: InvocationRow): boolean =>
      row.last_failure_error_code === code || ['paused', 'completed'].includes(row.status);
    const row = await waitUntil(`${id} fails with ${code}`, async () => {
      const found = await invocation(this.engine, id);
      return found !== undefined && isOver(found) ? found : undefined;
    });
    const lines = await waitUntil(`${id} is in the log with ${code}`, () => {
      const found = this.engine.output.split('\n').filter((line) => line.includes(id));
      return found.some((line) => line.includes(code)) ? found : undefined;
    });
    return [
      { place: 'last-failure', row },
      { place: 'log', id, lines },
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}
