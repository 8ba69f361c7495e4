/**
 * MetadataStore in one directory of one process: documents as rows of a KvStore, each change synced before anyone hears of it.
 * A row is the version (8 bytes, big-endian) and the value.
 */

import { EngineError } from '@engine/domain';
import {
  requireExpected,
  Watchers,
  type ExpectedVersion,
  type MetadataEntry,
  type MetadataStore,
  type NamedEntry,
} from '@engine/metadata';
import { decodeUtf8, encodeUtf8 } from '@engine/stdx';
import { LAYOUTS, prefixEnd, type KvStore } from '@engine/storage';

const VERSION_BYTES = 8;

/** Documents that one listing gives; far more than a cluster has. */
const LISTED_MAX = 100_000;

export class LevelMetadataStore implements MetadataStore {
  readonly #store: KvStore;
  readonly #watchers = new Watchers();
  /** Puts run one after the other; the tail of the line. */
  #tail: Promise<unknown> = Promise.resolve();
  /** Why a write failed: what is on disk is unknown then, so nothing is written any more. */
  #failure: unknown;

  /** The store stays the caller's: close it after the last call here. */
  constructor(store: KvStore) {
    this.#store = store;
  }

  get(name: string): Promise<MetadataEntry | undefined> {
    return Promise.resolve().then(() => this.#read(name));
  }

  put(name: string, value: Uint8Array, expected: ExpectedVersion): Promise<bigint> {
    const copy = value.slice();
    const done = this.#tail.then(() => this.#write(name, copy, expected));
    this.#tail = done.catch(() => undefined);
    return done;
  }

  watch(name: string, listener: (entry: MetadataEntry) => void): Disposable {
    return this.#watchers.add(name, listener, this.get(name));
  }

  async list(prefix: string): Promise<readonly NamedEntry[]> {
    const gte = keyOf(prefix);
    const rows = await this.#store.scan({ gte, lt: prefixEnd(gte), limit: LISTED_MAX });
    return rows.map(({ key, value }) => ({
      ...decodeEntry(value),
      name: decodeUtf8(key.subarray(1)),
    }));
  }

  async #write(name: string, value: Uint8Array, expected: ExpectedVersion): Promise<bigint> {
    if (this.#failure !== undefined) {
      const cause = this.#failure;
      throw new EngineError('storage', 'the metadata store failed; reopen it', { cause });
    }
    const found = this.#read(name)?.version;
    requireExpected(name, found, expected);
    const version = (found ?? 0n) + 1n;
    const batch = this.#store.batch();
    batch.put(keyOf(name), encodeEntry(version, value));
    try {
      await batch.write({ sync: true });
    } catch (error) {
      this.#failure = error;
      throw error;
    }
    this.#watchers.changed(name, { value, version });
    return version;
  }

  #read(name: string): MetadataEntry | undefined {
    const bytes = this.#store.get(keyOf(name));
    return bytes === undefined ? undefined : decodeEntry(bytes);
  }
}

function decodeEntry(bytes: Uint8Array): MetadataEntry {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { version: view.getBigUint64(0), value: bytes.subarray(VERSION_BYTES) };
}

function keyOf(name: string): Uint8Array {
  return Uint8Array.of(LAYOUTS.metadata, ...encodeUtf8(name));
}

function encodeEntry(version: bigint, value: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(VERSION_BYTES + value.length);
  new DataView(bytes.buffer).setBigUint64(0, version);
  bytes.set(value, VERSION_BYTES);
  return bytes;
}
