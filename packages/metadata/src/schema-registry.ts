/** The schema as every role sees it: the newest document with its look-ups, kept up to date by a watch. */

import {
  EMPTY_SCHEMA,
  EngineError,
  isEngineError,
  SchemaLookup,
  type HandlerDefaults,
  type Schema,
} from '@engine/domain';

import { decodeSchema, encodeSchema, SCHEMA_DOCUMENT } from './documents/schema.js';
import type { MetadataEntry, MetadataStore } from './metadata-store.js';

/** How often an update starts again because someone else was faster. */
const UPDATE_ATTEMPTS_MAX = 16;

export interface SchemaRegistryDependencies {
  readonly store: MetadataStore;
  /**
   * Called when a newer document cannot be read; the last good one stays in force. Typical cause: a newer server wrote it.
   */
  readonly onUnreadable: (error: EngineError) => void;
}

export class SchemaRegistry implements Disposable {
  readonly #defaults: HandlerDefaults;
  readonly #store: MetadataStore;
  readonly #onUnreadable: (error: EngineError) => void;
  readonly #listeners = new Set<(lookup: SchemaLookup) => void>();
  #lookup: SchemaLookup;
  /** Undefined while there is no document. */
  #version: bigint | undefined;
  #watch: Disposable | undefined;

  private constructor(defaults: HandlerDefaults, dependencies: SchemaRegistryDependencies) {
    this.#defaults = defaults;
    this.#store = dependencies.store;
    this.#onUnreadable = dependencies.onUnreadable;
    this.#lookup = new SchemaLookup(EMPTY_SCHEMA, defaults);
  }

  /**
   * Loads the document and watches it. `defaults` are the settings of the server for handlers that say nothing.
   *
   * Throws EngineError META0005 when the document cannot be read, META0010 when a newer server wrote it.
   */
  static async open(
    defaults: HandlerDefaults,
    dependencies: SchemaRegistryDependencies,
  ): Promise<SchemaRegistry> {
    const registry = new SchemaRegistry(defaults, dependencies);
    await registry.#refresh();
    registry.#watch = dependencies.store.watch(SCHEMA_DOCUMENT, (entry) => {
      registry.#onEntry(entry);
    });
    return registry;
  }

  /** Look-ups over the newest schema known here. A new object for every change. */
  get current(): SchemaLookup {
    return this.#lookup;
  }

  /**
   * Replaces the schema by what `change` makes of the newest one. `change` may run several times, and may throw to refuse;
   * returning its argument writes nothing. Resolves with the new look-ups after they are durable.
   *
   * Throws EngineError `conflict` when others were faster every time.
   */
  async update(change: (schema: Schema) => Schema): Promise<SchemaLookup> {
    for (let attempt = 1; ; attempt++) {
      const before = this.#lookup.schema;
      const after = change(before);
      if (after === before) return this.#lookup;
      try {
        const bytes = encodeSchema(after);
        const version = await this.#store.put(SCHEMA_DOCUMENT, bytes, this.#version ?? 'absent');
        this.#accept(after, version);
        return this.#lookup;
      } catch (error) {
        const wasOvertaken = isEngineError(error) && error.code === 'conflict';
        if (!wasOvertaken || attempt >= UPDATE_ATTEMPTS_MAX) throw error;
        await this.#refresh();
      }
    }
  }

  /** Reads the document now, rather than wait for the watch. Errors: what the store throws; META0005, META0010 as in `open`. */
  async catchUp(): Promise<void> {
    await this.#refresh();
  }

  /** Version of the document that `current` answers from; 0 while there is none. */
  get version(): bigint {
    return this.#version ?? 0n;
  }

  /**
   * Resolves once `current` answers from this version or a later one. Rejects with EngineError `unavailable` when the store cannot be
   * reached or does not have it yet.
   */
  async reach(version: bigint): Promise<void> {
    if (this.version < version) await this.#refresh();
    if (this.version >= version) return;
    throw new EngineError('unavailable', `schema version ${String(version)} is not here yet`);
  }

  /** Calls `listener` after each change with the new look-ups. */
  onChange(listener: (lookup: SchemaLookup) => void): Disposable {
    this.#listeners.add(listener);
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(listener);
      },
    };
  }

  /** Ends the watch. */
  [Symbol.dispose](): void {
    this.#watch?.[Symbol.dispose]();
    this.#listeners.clear();
  }

  async #refresh(): Promise<void> {
    const entry = await this.#store.get(SCHEMA_DOCUMENT);
    if (entry !== undefined) this.#accept(decodeSchema(entry.value), entry.version);
  }

  #onEntry(entry: MetadataEntry): void {
    if (!this.#isNewer(entry.version)) return;
    let schema: Schema;
    try {
      schema = decodeSchema(entry.value);
    } catch (error) {
      this.#onUnreadable(isEngineError(error) ? error : unreadable(error));
      return;
    }
    this.#accept(schema, entry.version);
  }

  #accept(schema: Schema, version: bigint): void {
    if (!this.#isNewer(version)) return;
    this.#version = version;
    this.#lookup = new SchemaLookup(schema, this.#defaults);
    for (const listener of this.#listeners) listener(this.#lookup);
  }

  #isNewer(version: bigint): boolean {
    return this.#version === undefined || version > this.#version;
  }
}

function unreadable(cause: unknown): EngineError {
  return new EngineError('META0005', 'the schema document cannot be read', { cause });
}
