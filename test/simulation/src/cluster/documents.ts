/**
 * The metadata store of a cluster: documents with compare-and-set, reached over links that can be cut, by a service that can be
 * gone or slow. A write whose answer is lost may have happened, or may yet.
 */

import { EngineError } from '@engine/domain';
import {
  requireExpected,
  type ExpectedVersion,
  type MetadataEntry,
  type MetadataStore,
  type NamedEntry,
} from '@engine/metadata';

import type { Chance } from '../simulator/chance.js';
import type { EventLoop } from '../simulator/event-loop.js';
import type { ServerProcess } from '../simulator/process.js';
import type { Links } from './links.js';

/** Name of the service on the network. */
export const DOCUMENTS = 'kv';

export interface DocumentFaults {
  /** Share of answers that are lost. */
  answerLoss: number;
  /** Typical and longest time of a request, one way, ms. */
  delayMs: number;
  delayMsMax: number;
}

/** Who uses the store: a process by its name on the network. */
export interface DocumentUser {
  readonly id: string;
  readonly process: ServerProcess;
}

/** A request without an answer for so long is given up. */
const ANSWER_MS_MAX = 5_000;

/** A change that was not pushed is found after so long. */
const WATCH_CHECK_MS = 2_000;

export class SimDocuments {
  /** Nobody answers while it is false. */
  isUp = true;
  readonly #loop: EventLoop;
  readonly #chance: Chance;
  readonly #faults: DocumentFaults;
  readonly #links: Links;
  readonly #entries = new Map<string, MetadataEntry>();
  readonly #pushes = new Set<(name: string) => void>();
  #revision = 0n;

  constructor(dependencies: {
    readonly loop: EventLoop;
    readonly chance: Chance;
    readonly faults: DocumentFaults;
    readonly links: Links;
  }) {
    this.#loop = dependencies.loop;
    this.#chance = dependencies.chance;
    this.#faults = dependencies.faults;
    this.#links = dependencies.links;
  }

  /** The document as it is, for those who only look on. */
  peek(name: string): MetadataEntry | undefined {
    return this.#entries.get(name);
  }

  /** Writes a document as if it had always been there. */
  seed(name: string, value: Uint8Array): void {
    const expected = this.#entries.get(name)?.version ?? 'absent';
    this.#put({ name, value, expected });
  }

  /** The store as one process sees it. */
  storeFor(user: DocumentUser): MetadataStore {
    return {
      get: (name) => this.#ask(user, () => this.#entries.get(name)),
      put: (name, value, expected) => {
        const copy = value.slice();
        return this.#ask(user, () => this.#put({ name, value: copy, expected }));
      },
      list: (prefix) => this.#ask(user, () => this.#list(prefix)),
      watch: (name, listener) => this.#watch(user, name, listener),
    };
  }

  #put(write: {
    readonly name: string;
    readonly value: Uint8Array;
    readonly expected: ExpectedVersion;
  }): bigint {
    const { name, value, expected } = write;
    requireExpected(name, this.#entries.get(name)?.version, expected);
    this.#revision += 1n;
    this.#entries.set(name, { value, version: this.#revision });
    for (const push of [...this.#pushes]) push(name);
    return this.#revision;
  }

  #list(prefix: string): readonly NamedEntry[] {
    return [...this.#entries]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, entry]) => ({ name, ...entry }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #watch(user: DocumentUser, name: string, listener: (entry: MetadataEntry) => void): Disposable {
    const { process } = user;
    let seen = 0n;
    let isOver = false;
    const tell = (entry: MetadataEntry | undefined): void => {
      if (isOver || entry === undefined || entry.version <= seen) return;
      seen = entry.version;
      listener(entry);
    };
    const push = (changed: string): void => {
      if (!process.isAlive) this.#pushes.delete(push);
      if (changed !== name || !this.#isThrough(user)) return;
      const entry = this.#entries.get(name);
      const arrive = process.guarded(() => {
        tell(entry);
      });
      this.#loop.after(this.#delay(), arrive);
    };
    const check = (): void => {
      if (isOver || !process.isAlive) return;
      this.#ask(user, () => this.#entries.get(name)).then(tell, () => undefined);
      process.scheduler.after(WATCH_CHECK_MS, check);
    };
    const stop = (): void => {
      isOver = true;
      this.#pushes.delete(push);
    };
    this.#pushes.add(push);
    check();
    return { [Symbol.dispose]: stop };
  }

  /** What is asked for happens on arrival. */
  #ask<T>(user: DocumentUser, work: () => T): Promise<T> {
    const { process } = user;
    return new Promise((resolve, reject) => {
      if (!process.stepOutward()) return;
      const limit = this.#loop.after(
        ANSWER_MS_MAX,
        process.guarded(() => {
          reject(new EngineError('unavailable', 'the metadata servers do not answer'));
        }),
      );
      const [there, back] = [this.#delay(), this.#delay()];
      const isLost = this.#chance.happens(this.#faults.answerLoss);
      if (!this.#isThrough(user)) return;
      this.#loop.after(there, () => {
        if (!this.#isThrough(user)) return;
        const settle = settling(work, resolve, reject);
        if (isLost) return;
        const arrive = process.guarded(() => {
          limit.cancel();
          settle();
        });
        this.#loop.after(back, () => {
          if (this.#isThrough(user)) arrive();
        });
      });
    });
  }

  #isThrough({ id }: DocumentUser): boolean {
    return this.isUp && !this.#links.isCut(id, DOCUMENTS);
  }

  #delay(): number {
    return this.#chance.delay(this.#faults.delayMs, this.#faults.delayMsMax);
  }
}

/** Does the work now; what it gives is told later. */
function settling<T>(
  work: () => T,
  resolve: (result: T) => void,
  reject: (error: unknown) => void,
): () => void {
  try {
    const result = work();
    return () => {
      resolve(result);
    };
  } catch (error) {
    return () => {
      reject(error);
    };
  }
}
