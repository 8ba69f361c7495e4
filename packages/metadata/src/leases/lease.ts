/**
 * A lease in the hands of its holder. It is a document that the holder changes again and again; who watches it counts the holder
 * dead after a whole TTL without a change (LeaseObserver). The holder counts from the moment it sent its last renewal that
 * succeeded, and stops what must not run twice after two thirds of the TTL.
 */

import { isEngineError } from '@engine/domain';

import type { ExpectedVersion, MetadataEntry, MetadataStore } from '../metadata-store.js';
import { decodeLease, encodeLease, LEASE_PREFIX } from './lease-document.js';

export interface LeaseRequest {
  /** Below `lease/`, such as `controller` or `node/worker-1`. */
  readonly name: string;
  /** One life of one process: never used again by another. */
  readonly holder: string;
  readonly ttlMs: number;
  /** What the others should know. */
  readonly note?: string;
  /** Version of a lease that an observer of this process saw expire: it may be taken away from its holder. */
  readonly expired?: bigint | undefined;
}

export interface LeaseDependencies {
  readonly store: MetadataStore;
  /** Milliseconds that never go back. */
  readonly monotonic: () => number;
}

export class Lease {
  readonly #request: LeaseRequest;
  readonly #dependencies: LeaseDependencies;
  #version: bigint;
  #renewals = 0;
  #renewedAt: number;
  #isLost = false;

  private constructor(
    request: LeaseRequest,
    dependencies: LeaseDependencies,
    taken: { readonly version: bigint; readonly sentAt: number },
  ) {
    this.#request = request;
    this.#dependencies = dependencies;
    this.#version = taken.version;
    this.#renewedAt = taken.sentAt;
  }

  /**
   * Takes the lease when it is free: never taken, said goodbye to, seen to expire, or already of this holder. Undefined when another
   * has it. Throws EngineError `unavailable` when the store cannot be reached.
   */
  static async take(
    request: LeaseRequest,
    dependencies: LeaseDependencies,
  ): Promise<Lease | undefined> {
    const { store, monotonic } = dependencies;
    const expected = freeVersion(await store.get(LEASE_PREFIX + request.name), request);
    if (expected === undefined) return undefined;
    const sentAt = monotonic();
    const version = await put(request, dependencies, { expected, renewals: 0, isGone: false });
    return version === undefined
      ? undefined
      : new Lease(request, dependencies, { version, sentAt });
  }

  /** From this moment of the monotonic clock on the holder must have stopped what may not run twice. */
  get safeUntil(): number {
    return this.#isLost
      ? Number.NEGATIVE_INFINITY
      : this.#renewedAt + (this.#request.ttlMs * 2) / 3;
  }

  /** Ask it first after any pause. */
  get isSafe(): boolean {
    return this.#dependencies.monotonic() < this.safeUntil;
  }

  /**
   * Shows a sign of life; call it about every fifth of the TTL. False: another has taken the lease, and it is lost for good. Throws
   * EngineError `unavailable` when the store cannot be reached: the renewal may have counted, the lease is as safe as before.
   */
  async renew(): Promise<boolean> {
    while (!this.#isLost) {
      const sentAt = this.#dependencies.monotonic();
      const version = await this.#put(false);
      if (version !== undefined) {
        this.#version = version;
        this.#renewedAt = sentAt;
        return true;
      }
      await this.#catchUp();
    }
    return false;
  }

  /** Says goodbye: others may take the lease at once. Effects: the lease is no longer held, whatever the store answers. */
  async release(): Promise<void> {
    if (this.#isLost) return;
    this.#isLost = true;
    await this.#put(true);
  }

  async #put(isGone: boolean): Promise<bigint | undefined> {
    this.#renewals += 1;
    const write = { expected: this.#version, renewals: this.#renewals, isGone };
    return put(this.#request, this.#dependencies, write);
  }

  /** The version is another: of a renewal whose answer was lost, or of somebody else. */
  async #catchUp(): Promise<void> {
    const entry = await this.#dependencies.store.get(LEASE_PREFIX + this.#request.name);
    const isOurs = entry !== undefined && decodeLease(entry.value).holder === this.#request.holder;
    if (isOurs) this.#version = entry.version;
    else this.#isLost = true;
  }
}

/** What to replace; undefined when another holds the lease. */
function freeVersion(
  entry: MetadataEntry | undefined,
  { holder, expired }: LeaseRequest,
): ExpectedVersion | undefined {
  if (entry === undefined) return 'absent';
  const lease = decodeLease(entry.value);
  const isFree = lease.isGone || lease.holder === holder || entry.version === expired;
  return isFree ? entry.version : undefined;
}

/** The new version; undefined when the document had another. */
async function put(
  { name, holder, ttlMs, note = '' }: LeaseRequest,
  { store }: LeaseDependencies,
  write: {
    readonly expected: ExpectedVersion;
    readonly renewals: number;
    readonly isGone: boolean;
  },
): Promise<bigint | undefined> {
  const { expected, renewals, isGone } = write;
  const value = encodeLease({ holder, ttlMs, renewals, isGone, note });
  try {
    return await store.put(LEASE_PREFIX + name, value, expected);
  } catch (error) {
    if (isEngineError(error) && error.code === 'conflict') return undefined;
    throw error;
  }
}
