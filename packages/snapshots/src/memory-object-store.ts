/** Memory twin of ObjectStore. A hook before each call can fail or delay it, and objects can be damaged or lost. */

import { EngineError } from '@engine/domain';

import { OBJECT_BYTES_MAX } from './limits.js';
import { requireObjectName } from './object-names.js';
import type { ObjectStore } from './object-store.js';

export interface ObjectCall {
  readonly kind: 'put' | 'get' | 'list' | 'delete';
  readonly name: string;
  /** Number of the call in this store, from 0. */
  readonly index: number;
}

export interface MemoryObjectStoreOptions {
  /** Throw (or reject) to fail the call without effect; a promise delays it. */
  readonly beforeCall?: (call: ObjectCall) => Promise<void> | undefined;
}

export class MemoryObjectStore implements ObjectStore {
  /** For tests that look or do damage. */
  readonly objects = new Map<string, Uint8Array>();
  readonly #options: MemoryObjectStoreOptions;
  #calls = 0;

  constructor(options: MemoryObjectStoreOptions = {}) {
    this.#options = options;
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    requireObjectName(name);
    const copy = bytes.slice();
    await this.#begin('put', name);
    if (copy.length > OBJECT_BYTES_MAX) throw new EngineError('storage', 'the object is too large');
    this.objects.set(name, copy);
  }

  async get(name: string): Promise<Uint8Array | undefined> {
    await this.#begin('get', name);
    return this.objects.get(name)?.slice();
  }

  async list(prefix: string): Promise<readonly string[]> {
    await this.#begin('list', prefix);
    return [...this.objects.keys()].filter((name) => name.startsWith(prefix)).sort();
  }

  async delete(name: string): Promise<void> {
    await this.#begin('delete', name);
    this.objects.delete(name);
  }

  async #begin(kind: ObjectCall['kind'], name: string): Promise<void> {
    const index = this.#calls++;
    await this.#options.beforeCall?.({ kind, name, index });
  }
}
