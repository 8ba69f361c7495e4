/**
 * A lease in the hands of its holder: a document that the holder changes again and again. The store is read and written here; how long
 * the lease is held, `LeaseHolder` knows.
 */

import { isEngineError } from '@engine/domain';

import type { ExpectedVersion, MetadataEntry, MetadataStore } from '../metadata-store.js';
import { decodeLease, encodeLease, LEASE_PREFIX } from './lease-document.js';
import { LeaseHolder, type LeaseState } from './lease-holder.js';
import { leaseTimes } from './lease-times.js';

export interface LeaseRequest {
  /** Below `lease/`, such as `controller` or `node/worker-1`. */
  readonly name: string;
  /** One life of one process: never used again by another. */
  readonly holder: string;
  /** At least LEASE_TTL_MS_MIN. */
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
  readonly #holder: LeaseHolder;
  #version: bigint;
  #renewals = 0;
  /** When the last renewal that succeeded was sent. */
  #renewedAt = -Infinity;

  private constructor(
    request: LeaseRequest,
    dependencies: LeaseDependencies,
    taken: { readonly version: bigint; readonly sentAt: number },
  ) {
    this.#request = request;
    this.#dependencies = dependencies;
    this.#version = taken.version;
    this.#holder = new LeaseHolder(leaseTimes(request.ttlMs));
    this.#holder.renewed(taken.sentAt);
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

  /** Ask it first after any pause. Once it is `lost` it stays so. */
  get state(): LeaseState {
    return this.#holder.state(this.#dependencies.monotonic());
  }

  /** From this moment of the monotonic clock on the holder must hold what may not run twice; undefined when it must already. */
  get heldUntil(): number | undefined {
    return this.#holder.heldUntil(this.#dependencies.monotonic());
  }

  /**
   * Shows a sign of life; call it every `renewalIntervalMs`. False: another has taken the lease or counted the holder dead, and it is
   * lost for good. Throws EngineError `unavailable` when the store cannot be reached: the renewal may have counted, the lease is as
   * it was. It may be called again while one is under way: after an outage the first that succeeds counts for those before it.
   */
  async renew(): Promise<boolean> {
    const askedAt = this.#dependencies.monotonic();
    while (!this.#isLost()) {
      if (this.#renewedAt > askedAt) return true;
      const sentAt = this.#dependencies.monotonic();
      const version = await this.#put(false);
      if (this.#isLost()) return false;
      if (version !== undefined) {
        this.#version = version;
        this.#renewedAt = Math.max(this.#renewedAt, sentAt);
        this.#holder.renewed(sentAt);
        return true;
      }
      await this.#catchUp();
    }
    return false;
  }

  /** Says goodbye: others may take the lease at once. Effects: the lease is no longer held, whatever the store answers. */
  async release(): Promise<void> {
    if (this.#isLost()) return;
    this.#lose();
    await this.#put(true);
  }

  #isLost(): boolean {
    return this.state === 'lost';
  }

  #lose(): void {
    this.#holder.lost(this.#dependencies.monotonic());
  }

  async #put(isGone: boolean): Promise<bigint | undefined> {
    this.#renewals += 1;
    const write = { expected: this.#version, renewals: this.#renewals, isGone };
    return put(this.#request, this.#dependencies, write);
  }

  /** The version is another: of a renewal whose answer was lost, of somebody else, or of one who buried the holder. */
  async #catchUp(): Promise<void> {
    const entry = await this.#dependencies.store.get(LEASE_PREFIX + this.#request.name);
    const lease = entry === undefined ? undefined : decodeLease(entry.value);
    const isOurs = lease?.holder === this.#request.holder && !lease.isGone;
    if (entry !== undefined && isOurs) this.#version = entry.version;
    else this.#lose();
  }
}

/**
 * Writes onto a lease that its holder is counted dead, if it still stands at `version`; the holder learns it with its next renewal.
 * False: it changed meanwhile, so the holder lives, or is another. Throws EngineError `unavailable` when the store cannot be reached.
 */
export async function buryLease(
  store: MetadataStore,
  { name, version }: { readonly name: string; readonly version: bigint },
): Promise<boolean> {
  const entry = await store.get(LEASE_PREFIX + name);
  if (entry?.version !== version) return false;
  const value = encodeLease({ ...decodeLease(entry.value), isGone: true });
  return (await replace(store, { name, value, expected: version })) !== undefined;
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
  return replace(store, { name, value, expected });
}

/** The new version; undefined when the document had another. */
async function replace(
  store: MetadataStore,
  write: { readonly name: string; readonly value: Uint8Array; readonly expected: ExpectedVersion },
): Promise<bigint | undefined> {
  try {
    return await store.put(LEASE_PREFIX + write.name, write.value, write.expected);
  } catch (error) {
    if (isEngineError(error) && error.code === 'conflict') return undefined;
    throw error;
  }
}
