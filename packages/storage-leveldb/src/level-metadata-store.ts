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

import { FileLedger, NO_LEDGER, type DocumentLedger } from './document-ledger.js';
import { METADATA_STORE } from './format.js';
import { LevelKvStore } from './level-kv-store.js';

const VERSION_BYTES = 8;

/** Documents that one listing gives; far more than a cluster has. */
const LISTED_MAX = 100_000;

/** A metadata store and what it holds open. */
export interface OpenedMetadata {
  readonly metadata: LevelMetadataStore;
  /** Call it after the last call to the store. */
  readonly close: () => Promise<void>;
}

/**
 * Opens the documents in `directory`, or makes it, and compares them with their ledger.
 *
 * Throws EngineError RT0005 when another process has it open, META0010 or META0011 when its format does not fit, META0005 when a
 * document is lost or damaged, `storage` for anything else.
 */
export async function openMetadata(directory: string): Promise<OpenedMetadata> {
  const store = await LevelKvStore.open({ directory, kind: METADATA_STORE });
  try {
    const ledger = await FileLedger.open(directory);
    const metadata = new LevelMetadataStore(store, ledger);
    await ledger.verify((name) => metadata.get(name).catch(unreadable));
    return { metadata, close: () => store.close() };
  } catch (error) {
    await store.close();
    throw error;
  }
}

export class LevelMetadataStore implements MetadataStore {
  readonly #store: KvStore;
  readonly #ledger: DocumentLedger;
  readonly #watchers = new Watchers();
  /** Puts run one after the other; the tail of the line. */
  #tail: Promise<unknown> = Promise.resolve();
  /** Why a write failed: what is on disk is unknown then, so nothing is written any more. */
  #failure: unknown;

  /** The store stays the caller's: close it after the last call here. */
  constructor(store: KvStore, ledger: DocumentLedger = NO_LEDGER) {
    this.#store = store;
    this.#ledger = ledger;
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
    return rows.map(({ key, value }) => {
      const name = decodeUtf8(key.subarray(1));
      return { ...decodeEntry(value, name), name };
    });
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
      await this.#ledger.record(name, { value, version });
    } catch (error) {
      this.#failure = error;
      throw error;
    }
    this.#watchers.changed(name, { value, version });
    return version;
  }

  #read(name: string): MetadataEntry | undefined {
    const bytes = this.#store.get(keyOf(name));
    return bytes === undefined ? undefined : decodeEntry(bytes, name);
  }
}

function decodeEntry(bytes: Uint8Array, name: string): MetadataEntry {
  if (bytes.length < VERSION_BYTES) {
    throw new EngineError('storage', `document '${name}' is cut off`);
  }
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

function unreadable(cause: unknown): never {
  const reason = cause instanceof Error ? cause.message : String(cause);
  throw new EngineError('META0005', `the metadata cannot be read: ${reason}`, { cause });
}
