/** What leases keep on every MetadataStore. Time is a number that the test sets. */

import { describe, expect, it } from '@jest/globals';

import {
  buryLease,
  Lease,
  LeaseObserver,
  leaseTimes,
  type Liveness,
  type MetadataStore,
} from '../src/index.js';
import type { MetadataHarness } from './metadata-store-contract.js';

const TTL_MS = 15_000;

class Bench {
  now = 1_000;
  readonly store: MetadataStore;
  /** The store of somebody else: another process where there can be one. */
  readonly other: MetadataStore;
  isCutOff = false;
  #writes = 0;
  readonly #observer: LeaseObserver;

  constructor(store: MetadataStore, other: MetadataStore) {
    this.store = store;
    this.other = other;
    this.#observer = new LeaseObserver(
      { prefix: 'node/', times: leaseTimes(TTL_MS) },
      { store: other, monotonic: this.monotonic, write: () => this.#write() },
    );
  }

  readonly monotonic = (): number => this.now;

  take(holder: string, expired?: bigint): Promise<Lease | undefined> {
    const { store, monotonic } = this;
    return Lease.take(
      { name: 'node/a', holder, ttlMs: TTL_MS, note: 'here', expired },
      { store, monotonic },
    );
  }

  async require(holder: string): Promise<Lease> {
    const lease = await this.take(holder);
    if (lease === undefined) throw new Error('the lease is not free');
    return lease;
  }

  /** A round every three seconds until `ms` have passed; then what it shows. */
  async observe(ms: number): Promise<Liveness | undefined> {
    await this.round();
    for (const end = this.now + ms; this.now < end;) {
      this.now += Math.min(3_000, end - this.now);
      await this.round();
    }
    return this.observed?.liveness;
  }

  round(): Promise<void> {
    return this.#observer.round().catch(() => undefined);
  }

  get observed(): LeaseObserver['leases'][number] | undefined {
    return this.#observer.leases[0];
  }

  async #write(): Promise<void> {
    if (this.isCutOff) throw new Error('cut off');
    const version = (await this.other.get('observer'))?.version ?? 'absent';
    await this.other.put('observer', Uint8Array.of((this.#writes += 1) & 0xff), version);
  }
}

export function leaseContract(name: string, makeHarness: () => Promise<MetadataHarness>): void {
  const withBench = async (body: (bench: Bench) => Promise<void>): Promise<void> => {
    const harness = await makeHarness();
    try {
      await body(new Bench(harness.store, (await harness.another?.()) ?? harness.store));
    } finally {
      await harness.dispose();
    }
  };

  describe(`leases on ${name}`, () => {
    it('of takers at the same time exactly one holds the lease', () =>
      withBench(async (bench) => {
        const taken = await Promise.all(['a', 'b', 'c', 'd'].map((holder) => bench.take(holder)));
        expect(taken.filter((lease) => lease !== undefined)).toHaveLength(1);
        expect(await bench.take('e')).toBeUndefined();
      }));

    it('the lease is held for two thirds of the TTL from when it asked for the last renewal', () =>
      withBench(async (bench) => {
        const lease = await bench.require('a');
        expect(lease.heldUntil).toBe(11_000);
        bench.now = 9_000;
        expect(await lease.renew()).toBe(true);
        expect(lease.heldUntil).toBe(19_000);
        bench.now = 18_999;
        expect(lease.state).toBe('held');
        bench.now = 19_000;
        expect(lease.state).toBe('lapsed');
        expect(lease.heldUntil).toBeUndefined();
        await lease.renew();
        expect(lease.state).toBe('held');
      }));

    it('a lease that is renewed stays alive; without renewal it expires after a whole TTL', () =>
      withBench(async (bench) => {
        const lease = await bench.require('a');
        for (let i = 0; i < 4; i++) {
          expect(await bench.observe(6_000)).toBe('alive');
          await lease.renew();
        }
        expect(await bench.observe(TTL_MS - 1)).toBe('alive');
        expect(await bench.observe(1)).toBe('stale');
        expect(bench.observed).toMatchObject({ name: 'node/a', holder: 'a', note: 'here' });
      }));

    it('a lease that expired can be taken by who saw it, and its holder learns of it', () =>
      withBench(async (bench) => {
        const old = await bench.require('a');
        await bench.observe(TTL_MS);
        const fresh = await bench.take('b', bench.observed?.version);
        expect(fresh?.state).toBe('held');
        expect(await old.renew()).toBe(false);
        expect(old.state).toBe('lost');
        expect(await old.renew()).toBe(false);
        expect(await fresh?.renew()).toBe(true);
        expect(await bench.observe(0)).toBe('alive');
      }));

    it('a renewal in the last moment wins over the one who saw the lease expire', () =>
      withBench(async (bench) => {
        const lease = await bench.require('a');
        await bench.observe(TTL_MS);
        const seen = bench.observed?.version;
        await lease.renew();
        expect(await bench.take('b', seen)).toBeUndefined();
        expect(await bench.observe(0)).toBe('alive');
      }));

    it('goodbye frees the lease at once', () =>
      withBench(async (bench) => {
        const lease = await bench.require('a');
        expect(await bench.observe(0)).toBe('alive');
        await lease.release();
        expect(lease.state).toBe('lost');
        expect(await bench.observe(0)).toBe('gone');
        expect(await bench.take('b')).toBeDefined();
        expect(await lease.renew()).toBe(false);
      }));

    it('a holder that is buried has lost its lease, and may take it anew', () =>
      withBench(async (bench) => {
        const lease = await bench.require('a');
        await bench.observe(TTL_MS);
        const version = bench.observed?.version ?? 0n;
        expect(await buryLease(bench.other, { name: 'node/a', version })).toBe(true);
        expect(await bench.observe(0)).toBe('gone');
        expect(await lease.renew()).toBe(false);
        expect(lease.state).toBe('lost');
        expect(await (await bench.require('a')).renew()).toBe(true);
        expect(await bench.observe(0)).toBe('alive');
      }));

    it('a holder that renewed is not buried', () =>
      withBench(async (bench) => {
        const lease = await bench.require('a');
        await bench.observe(TTL_MS);
        const version = bench.observed?.version ?? 0n;
        await lease.renew();
        expect(await buryLease(bench.other, { name: 'node/a', version })).toBe(false);
        expect(await lease.renew()).toBe(true);
      }));

    it('after an outage of the observer everyone gets a full TTL again', () =>
      withBench(async (bench) => {
        await bench.require('a');
        expect(await bench.observe(TTL_MS - 1_000)).toBe('alive');
        bench.isCutOff = true;
        expect(await bench.observe(8_000)).toBe('unknown');
        bench.isCutOff = false;
        expect(await bench.observe(TTL_MS - 1)).toBe('alive');
        expect(await bench.observe(1)).toBe('stale');
      }));

    it('after a freeze of the observer everyone gets a full TTL again', () =>
      withBench(async (bench) => {
        await bench.require('a');
        expect(await bench.observe(3_000)).toBe('alive');
        bench.now += 60_000;
        expect(await bench.observe(TTL_MS - 1)).toBe('alive');
        expect(await bench.observe(1)).toBe('stale');
      }));
  });
}
