import { expect } from '@jest/globals';
import {
  EngineError,
  loadHashes,
  type InvocationId,
  type PartitionAnswer,
  type PartitionRequest,
} from '@engine/domain';
import { MemoryMetadataStore, SchemaRegistry } from '@engine/metadata';
import { seededRandom, systemClock } from '@engine/runtime';
import { IRREVOCABLE, type InvocationSnapshot } from '@engine/wire';
import { DEFAULT_ADMIN_CONFIG, type AdminConfig } from '../config-shape.js';
import type { AdminDependencies } from '../context.js';
import { Admin } from '../service.js';
import { HURRIED } from './hurried.js';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
}

/** The id of what a request made. */
export function idOf({ json }: Reply): string {
  return String(json['id']);
}

/** The body of a refusal. `code`: null for those without a documented one. */
export function problem(code: string | null): object {
  return { message: expect.any(String), engine_code: code, restate_code: code };
}

type GivenDependencies = Pick<AdminDependencies, 'schemas' | 'metadata' | 'hashes'> &
  Partial<AdminDependencies>;

/** An admin on a free port with everything behind it in memory. */
export class AdminFixture implements AsyncDisposable {
  isReady = true;
  /** Answers of the partitions, by invocation id; others are not found. */
  readonly outcomes = new Map<string, PartitionAnswer>();
  /** Answer of the partitions to changes of state. */
  stateAnswer: PartitionAnswer = { kind: 'operation', outcome: 'appended' };
  readonly operations: PartitionRequest[] = [];
  readonly snapshots: InvocationSnapshot[] = [];
  /** Pieces of the answer to a statement; others are refused. */
  readonly answers = new Map<string, readonly string[]>();
  readonly #admin: Admin;

  private constructor(config: Partial<AdminConfig>, given: GivenDependencies) {
    this.#admin = new Admin(
      { ...DEFAULT_ADMIN_CONFIG, bindIp: '127.0.0.1', bindPort: 0, ...config },
      { ...this.#dependencies(), ...given },
    );
  }

  /** `given`: what takes the place of the dependencies of the fixture. */
  static async start(
    config: Partial<AdminConfig> = {},
    given: Partial<AdminDependencies> = {},
  ): Promise<AdminFixture> {
    const { handlerDefaults } = DEFAULT_ADMIN_CONFIG;
    const metadata = given.metadata ?? new MemoryMetadataStore();
    const schemas = await SchemaRegistry.open(handlerDefaults, {
      store: metadata,
      onUnreadable: (error) => {
        throw error;
      },
    });
    const hashes = await loadHashes();
    const fixture = new AdminFixture(config, { schemas, hashes, ...given, metadata });
    await fixture.#admin.start();
    return fixture;
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.#admin.port)}`;
  }

  /** `body`: sent as JSON unless it is a text. */
  async ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = { 'content-type': 'application/json' },
  ): Promise<Reply> {
    const response = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      ...(body === undefined ? {} : { headers }),
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json';
    const json = (isJson && text !== '' ? JSON.parse(text) : {}) as Reply['json'];
    return { status: response.status, headers: response.headers, text, json };
  }

  /** `prefix`: such as `/v2`. */
  register(body: object, prefix = ''): Promise<Reply> {
    return this.ask('POST', `${prefix}/deployments`, body);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#admin[Symbol.asyncDispose]();
  }

  #dependencies(): Omit<AdminDependencies, 'schemas' | 'metadata' | 'hashes'> {
    return {
      channel: {
        send: (request, respond) => {
          this.operations.push(request);
          const answer =
            'invocationId' in request ? this.outcomes.get(request.invocationId) : this.stateAnswer;
          setImmediate(respond, answer ?? { kind: 'operation', outcome: 'not-found' });
          return IRREVOCABLE;
        },
      },
      invocations: {
        scan: ({ limit, after }) => this.#scan(limit, after),
      },
      journals: {
        scanJournal: async function* () {
          // No invocation of the fixture has a journal.
        },
      },
      queries: { queryJson: (statement) => this.#query(statement) },
      functions: { invoke: () => Promise.reject(new EngineError('RT0010', 'no such function')) },
      signer: undefined,
      isReady: () => this.isReady,
      clock: systemClock,
      scheduler: HURRIED,
      random: seededRandom(1),
    };
  }

  async *#scan(limit: number, after: InvocationId | undefined): AsyncGenerator<InvocationSnapshot> {
    await Promise.resolve();
    const start = this.snapshots.findIndex(({ id }) => id === after) + 1;
    yield* this.snapshots.slice(start, start + limit);
  }

  #query(statement: string): Promise<AsyncIterable<Uint8Array>> {
    const pieces = this.answers.get(statement);
    if (pieces === undefined) {
      return Promise.reject(new EngineError('bad-request', `syntax error in ${statement}`));
    }
    return Promise.resolve(
      (async function* () {
        await Promise.resolve();
        for (const piece of pieces) yield Buffer.from(piece);
      })(),
    );
  }
}
