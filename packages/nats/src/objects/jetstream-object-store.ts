/**
 * ObjectStore in an object bucket of JetStream, which the tools of NATS can read.
 *
 * The library forgets an object but not that there was one; snapshots come and go for years, so what it leaves is purged. Names are
 * listed by their subjects, without reading what stands there.
 */

import { EngineError, isEngineError } from '@engine/domain';
import { delay, type Clock, type Scheduler } from '@engine/runtime';
import { OBJECT_BYTES_MAX, requireObjectName, type ObjectStore } from '@engine/snapshots';
import { concatBytes } from '@engine/stdx';
import { StorageType, type JetStreamClient, type JetStreamManager } from '@nats-io/jetstream';
import {
  Objm,
  setSha256Backend,
  type ObjectResult,
  type ObjectStore as Bucket,
  type Sha256Backend,
} from '@nats-io/obj';

import type { ReplicaCount } from '../log/stream-config.js';
import {
  objectBucket,
  objectMetaPrefix,
  objectMetaSubject,
  objectName,
  objectPieces,
  objectStream,
} from '../subjects.js';
import { isRefusal, untilAnswered } from '../until-answered.js';

/** Pieces in which objects stand; larger ones delay everything behind them on a connection. */
const PIECE_BYTES = 256 * 1024;

/** A piece that is not acknowledged after so long has failed. */
const PUT_TIMEOUT_MS = 10_000;

/** A reader that hears nothing for so long is given up. */
const READ_SILENCE_MS = 10_000;

/** Longer than the servers need to agree on a leader; what is put twice stands once. */
const RETRIES_MAX = 10;
const RETRY_MS = 1_000;

/** A server that lags behind shows an object in part: it is read again so many times before it counts as damaged. */
const DAMAGED_RETRIES_MAX = 2;

export interface ObjectStoreOptions {
  readonly cluster: string;
  readonly replicas: ReplicaCount;
  /**
   * Who sums what is put and got: Node unless said otherwise, thirty times as fast as the library's own code. Node cannot be asked where
   * modules are not loaded by Node itself, as in jest. One choice per process: the last one counts.
   */
  readonly sha256?: Sha256Backend;
  /** READ_SILENCE_MS if absent. */
  readonly readSilenceMs?: number;
  /** RETRIES_MAX if absent. */
  readonly retriesMax?: number;
}

export interface ObjectStoreDependencies {
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
}

export class JetStreamObjectStore implements ObjectStore {
  readonly #bucket: Bucket;
  readonly #name: string;
  readonly #readSilenceMs: number;
  readonly #retriesMax: number;
  readonly #dependencies: ObjectStoreDependencies;

  private constructor(
    bucket: Bucket,
    { cluster, readSilenceMs = READ_SILENCE_MS, retriesMax = RETRIES_MAX }: ObjectStoreOptions,
    dependencies: ObjectStoreDependencies,
  ) {
    this.#bucket = bucket;
    this.#name = objectBucket(cluster);
    this.#readSilenceMs = readSilenceMs;
    this.#retriesMax = retriesMax;
    this.#dependencies = dependencies;
  }

  /**
   * Makes the bucket where there is none, and checks the one that is there.
   *
   * Throws EngineError RT0002 when the bucket is set up in a way that can lose objects, and as `untilAnswered` does.
   */
  static async open(
    options: ObjectStoreOptions,
    dependencies: ObjectStoreDependencies,
  ): Promise<JetStreamObjectStore> {
    setSha256Backend(options.sha256 ?? 'native');
    const name = objectBucket(options.cluster);
    const { replicas } = options;
    const make = (): Promise<Bucket> =>
      new Objm(dependencies.client).create(name, { storage: StorageType.File, replicas });
    const bucket = await untilAnswered(`the bucket ${name}`, make, dependencies);
    const store = new JetStreamObjectStore(bucket, options, dependencies);
    await store.#check(replicas);
    return store;
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    requireObjectName(name);
    if (bytes.length > OBJECT_BYTES_MAX)
      throw new EngineError('storage', 'the object is too large');
    // The library publishes views.
    const copy = bytes.slice();
    await this.#answered(() => {
      const meta = { name, options: { max_chunk_size: PIECE_BYTES } };
      return this.#bucket.putBlob(meta, copy, { timeout: PUT_TIMEOUT_MS });
    });
  }

  get(name: string): Promise<Uint8Array | undefined> {
    return this.#answered(() => this.#read(name), DAMAGED_RETRIES_MAX);
  }

  async list(prefix: string): Promise<readonly string[]> {
    const filter = `${objectMetaPrefix(this.#name)}>`;
    const info = await this.#answered(() => this.#info(filter));
    return Object.keys(info.state.subjects ?? {})
      .map((subject) => objectName(this.#name, subject))
      .filter((name) => name.startsWith(prefix))
      .sort();
  }

  async delete(name: string): Promise<void> {
    await this.#answered(async () => {
      const info = await this.#bucket.info(name);
      if (info === null) return;
      await this.#bucket.delete(name);
      const filter = objectMetaSubject(this.#name, name);
      await this.#dependencies.manager.streams.purge(objectStream(this.#name), { filter });
    });
  }

  /** Asks again while the servers do not answer, and so many times when they refuse. */
  async #answered<T>(body: () => Promise<T>, refusalRetriesMax = 0): Promise<T> {
    for (let retry = 0; ; retry += 1) {
      try {
        return await coded(body);
      } catch (error) {
        const isRefused = isEngineError(error) && error.code === 'storage';
        if (retry >= (isRefused ? refusalRetriesMax : this.#retriesMax)) throw error;
      }
      await delay(this.#dependencies.scheduler, RETRY_MS);
    }
  }

  async #read(name: string): Promise<Uint8Array | undefined> {
    const found = await this.#bucket.get(name);
    if (found === null) return undefined;
    const { size, nuid, chunks } = found.info;
    if (size > OBJECT_BYTES_MAX) throw new EngineError('storage', 'the object is too large');
    let cause: unknown;
    try {
      const bytes = await this.#collect(found);
      if (bytes.length === size) return bytes;
    } catch (error) {
      cause = error;
    }
    const pieces = objectPieces(this.#name, nuid);
    const { state } = await this.#info(pieces);
    const isThere = state.subjects?.[pieces] === chunks;
    const isDamaged = !isThere || (cause instanceof Error && cause.message.includes('digest'));
    const message = `the object ${name} ${isDamaged ? 'is damaged' : 'does not come'}`;
    throw new EngineError(isDamaged ? 'storage' : 'unavailable', message, { cause });
  }

  /** The bytes, verified by the library, or less of them when nothing comes for a while. */
  async #collect({ data, error }: ObjectResult): Promise<Uint8Array> {
    // The same error comes out of the data.
    error.catch(() => undefined);
    const reader = data.getReader();
    const pieces: Uint8Array[] = [];
    for (;;) {
      const timer = this.#dependencies.scheduler.after(this.#readSilenceMs, () => {
        void reader.cancel();
      });
      const { done, value } = await reader.read().finally(() => {
        timer.cancel();
      });
      if (done) return concatBytes(pieces);
      pieces.push(value);
    }
  }

  #info(filter: string): ReturnType<JetStreamManager['streams']['info']> {
    const stream = objectStream(this.#name);
    return this.#dependencies.manager.streams.info(stream, { subjects_filter: filter });
  }

  async #check(replicas: ReplicaCount): Promise<void> {
    const stream = objectStream(this.#name);
    const { streams } = this.#dependencies.manager;
    const ask = (): ReturnType<typeof streams.info> => streams.info(stream);
    const { config } = await untilAnswered(`the bucket ${stream}`, ask, this.#dependencies);
    const problems: string[] = [];
    if (config.storage !== StorageType.File) problems.push('it is not on disk');
    if (config.num_replicas < replicas)
      problems.push(`it has ${String(config.num_replicas)} replica(s)`);
    if (config.max_age !== 0) problems.push('its objects age');
    if (problems.length === 0) return;
    throw new EngineError(
      'RT0002',
      `the bucket ${stream} cannot hold snapshots: ${problems.join('; ')}`,
    );
  }
}

/** What the servers refuse is `storage`, whatever keeps them from answering is `unavailable`. */
async function coded<T>(body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (cause) {
    if (isEngineError(cause)) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const code = isRefusal(cause) ? 'storage' : 'unavailable';
    throw new EngineError(code, `the object servers fail: ${reason}`, { cause });
  }
}
