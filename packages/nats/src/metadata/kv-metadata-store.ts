/**
 * MetadataStore on a JetStream KV bucket. A version is the revision of the bucket, so it also grows over deletions.
 *
 * Reads go to the server that leads the bucket (no direct reads), because leases are judged by what is read: a copy that lags would
 * make the living look dead.
 */

import { EngineError } from '@engine/domain';
import type { ExpectedVersion, MetadataEntry, MetadataStore, NamedEntry } from '@engine/metadata';
import { requireExpected } from '@engine/metadata';
import { delay, type Clock, type Scheduler } from '@engine/runtime';
import {
  JetStreamApiError,
  StorageType,
  type JetStreamManager,
  type StreamInfo,
} from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';

import type { ReplicaCount } from '../log/stream-config.js';
import { refusalOf } from '../log/refusals.js';
import { documentKey, documentName, metadataBucket } from '../subjects.js';
import { isRefusal, untilAnswered } from '../until-answered.js';
import { KvWatch } from './kv-watch.js';

/** A refusal whose reason is not to be seen may come from a proposal that is dropped later: look again so many times. */
const PHANTOM_RETRIES_MAX = 20;
const PHANTOM_DELAY_MS = 100;

export interface KvMetadataOptions {
  readonly cluster: string;
  readonly replicas: ReplicaCount;
}

export interface KvMetadataDependencies {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
}

export class KvMetadataStore implements MetadataStore {
  readonly #bucket: KV;
  readonly #stream: string;
  readonly #subjects: string;
  readonly #dependencies: KvMetadataDependencies;
  readonly #watches = new Set<KvWatch>();

  private constructor(bucket: KV, name: string, dependencies: KvMetadataDependencies) {
    this.#bucket = bucket;
    this.#stream = `KV_${name}`;
    this.#subjects = `$KV.${name}.`;
    this.#dependencies = dependencies;
  }

  /**
   * Makes the bucket where there is none, and checks the one that is there.
   *
   * Throws EngineError RT0002 when the bucket is set up in a way that can lose documents, and as `untilAnswered` does.
   */
  static async open(
    options: KvMetadataOptions,
    dependencies: KvMetadataDependencies,
  ): Promise<KvMetadataStore> {
    const name = metadataBucket(options.cluster);
    const { replicas } = options;
    const made = { history: 1, storage: StorageType.File, replicas, allow_direct: false };
    const make = (): Promise<KV> => new Kvm(dependencies.connection).create(name, { ...made });
    const bucket = await untilAnswered(`the bucket ${name}`, make, dependencies);
    const store = new KvMetadataStore(bucket, name, dependencies);
    await store.#check(replicas);
    // One that was just made has no leader for a moment, and its first requests would be lost.
    await untilAnswered(`the bucket ${name}`, () => bucket.get(documentKey('any')), dependencies);
    return store;
  }

  get(name: string): Promise<MetadataEntry | undefined> {
    return coded(async () => {
      const entry = await this.#bucket.get(documentKey(name));
      if (entry?.operation !== 'PUT') return undefined;
      return { value: entry.value, version: BigInt(entry.revision) };
    });
  }

  async put(name: string, value: Uint8Array, expected: ExpectedVersion): Promise<bigint> {
    const previousSeq = expected === 'absent' ? 0 : Number(expected);
    const copy = value.slice();
    for (let retry = 0; ; retry += 1) {
      try {
        return BigInt(await this.#bucket.put(documentKey(name), copy, { previousSeq }));
      } catch (error) {
        if (!isWrongLast(error)) throw codedError(error);
      }
      const found = (await this.get(name))?.version;
      requireExpected(name, found, expected);
      if (retry === PHANTOM_RETRIES_MAX) throw unavailable('a write is refused without a reason');
      await delay(this.#dependencies.scheduler, PHANTOM_DELAY_MS);
    }
  }

  watch(name: string, listener: (entry: MetadataEntry) => void): Disposable {
    const { scheduler } = this.#dependencies;
    const bucket = this.#bucket;
    const read = () => this.get(name);
    const watch = new KvWatch(documentKey(name), { bucket, read, scheduler, listener });
    this.#watches.add(watch);
    return {
      [Symbol.dispose]: () => {
        watch.stop();
        this.#watches.delete(watch);
      },
    };
  }

  async list(prefix: string): Promise<readonly NamedEntry[]> {
    const filter = `${this.#subjects}${documentKey(prefix)}>`;
    const info = await coded(() =>
      this.#dependencies.manager.streams.info(this.#stream, { subjects_filter: filter }),
    );
    const subjects = Object.keys(info.state.subjects ?? {});
    const names = subjects.map((subject) => documentName(subject.slice(this.#subjects.length)));
    const entries = await Promise.all(
      names.sort().map(async (name) => {
        const entry = await this.get(name);
        return entry === undefined ? [] : [{ name, ...entry }];
      }),
    );
    return entries.flat();
  }

  /** The clock of the server that leads the bucket, in ms since 1970. Throws as `get` does. */
  async time(): Promise<number> {
    const { ts } = await coded(() => this.#dependencies.manager.streams.info(this.#stream));
    if (ts === undefined) throw unavailable('a server told no time');
    return Date.parse(ts);
  }

  /** Ends every watch. */
  close(): void {
    for (const watch of this.#watches) watch.stop();
    this.#watches.clear();
  }

  async #check(replicas: ReplicaCount): Promise<void> {
    const ask = (): Promise<StreamInfo> => this.#dependencies.manager.streams.info(this.#stream);
    const { config } = await untilAnswered(`the bucket ${this.#stream}`, ask, this.#dependencies);
    const problems: string[] = [];
    if (config.storage !== StorageType.File) problems.push('it is not on disk');
    if (config.num_replicas < replicas)
      problems.push(`it has ${String(config.num_replicas)} replica(s)`);
    if (config.max_age !== 0) problems.push('its entries age');
    // A copy that lags may answer direct reads.
    if (config.allow_direct) problems.push('it allows direct reads');
    if (problems.length === 0) return;
    throw new EngineError(
      'RT0002',
      `the bucket ${this.#stream} cannot hold metadata: ${problems.join('; ')}`,
    );
  }
}

function isWrongLast(error: unknown): boolean {
  if (!(error instanceof JetStreamApiError)) return false;
  return refusalOf(error.apiError()).kind === 'wrong-last';
}

async function coded<T>(body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    throw codedError(error);
  }
}

/** What the servers refuse is `storage`, whatever keeps them from answering is `unavailable`. */
function codedError(cause: unknown): EngineError {
  if (isRefusal(cause)) return new EngineError('storage', 'the metadata servers refuse', { cause });
  return unavailable('the metadata servers do not answer', cause);
}

function unavailable(message: string, cause?: unknown): EngineError {
  return new EngineError('unavailable', message, { cause });
}
