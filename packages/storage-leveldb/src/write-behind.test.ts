import { describe, expect, it } from '@jest/globals';
import { assertNever, Deferred } from '@engine/stdx';
import { MemoryKvStore, type PendingWrite } from '@engine/storage';
import type { Scheduler } from '@engine/runtime';
import * as fc from 'fast-check';

import { WRITE_DELAY_MS, WriteBehind } from './write-behind.js';

const FULL_RANGE = { gte: Uint8Array.of(), lt: Uint8Array.of(255), limit: Infinity };
const MIB = 1024 * 1024;

const STORAGE = expect.objectContaining({ code: 'storage' });

/** Lets run what needs no time. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A store whose writes end, and a clock that goes on, when the test says so. */
class Bench {
  readonly writes: PendingWrite[] = [];
  readonly store: MemoryKvStore;
  readonly scheduler: Scheduler;
  behind: WriteBehind;
  readonly #timers = new Set<{ readonly at: number; readonly fn: () => void }>();
  /** Writes under way, oldest first. */
  readonly #ends: Deferred<void>[] = [];
  #nowMs = 0;

  constructor() {
    this.store = new MemoryKvStore({
      beforeWrite: (write) => {
        this.writes.push(write);
        const end = new Deferred<void>();
        this.#ends.push(end);
        return end.promise;
      },
    });
    this.scheduler = {
      immediate: () => undefined,
      after: (ms, fn) => {
        const timer = { at: this.#nowMs + ms, fn };
        this.#timers.add(timer);
        return { cancel: () => void this.#timers.delete(timer) };
      },
    };
    this.behind = this.#begin();
  }

  get isWriting(): boolean {
    return this.#ends.length > 0;
  }

  /** Another one on the same store. */
  reopen(): void {
    this.behind = this.#begin();
  }

  /** Runs what is due after `ms`. */
  async pass(ms: number): Promise<void> {
    this.#nowMs += ms;
    for (const timer of [...this.#timers]) {
      if (timer.at > this.#nowMs || !this.#timers.delete(timer)) continue;
      timer.fn();
    }
    await settled();
  }

  /** The oldest write under way ends. */
  async end(error?: Error): Promise<void> {
    await settled();
    const end = this.#ends.shift();
    if (error === undefined) end?.resolve();
    else end?.reject(error);
    await settled();
  }

  /** Everything that was begun comes to its end. */
  async drain(): Promise<void> {
    do {
      await this.end();
      await this.pass(WRITE_DELAY_MS);
    } while (this.isWriting);
  }

  #begin(): WriteBehind {
    return new WriteBehind({ store: this.store, scheduler: this.scheduler });
  }
}

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

/** What became of a promise so far. */
function outcomeOf(promise: Promise<unknown>): { kind: 'open' | 'resolved' | 'rejected' } {
  const outcome: { kind: 'open' | 'resolved' | 'rejected' } = { kind: 'open' };
  promise.then(
    () => (outcome.kind = 'resolved'),
    () => (outcome.kind = 'rejected'),
  );
  return outcome;
}

describe('WriteBehind', () => {
  it('is read at once, and written a moment later in one batch, each key once', async () => {
    const bench = new Bench();
    const { behind, store } = bench;
    behind.put(bytes(1), bytes(10));
    behind.put(bytes(2), bytes(20));
    behind.put(bytes(1), bytes(11));
    behind.del(bytes(2));
    expect([1, 2, 3].map((key) => behind.get(bytes(key)))).toEqual([
      bytes(11),
      undefined,
      undefined,
    ]);
    await bench.pass(WRITE_DELAY_MS - 1);
    expect(bench.writes).toEqual([]);
    await bench.pass(1);
    expect(bench.writes).toEqual([{ index: 0, sync: false, operationCount: 2 }]);
    expect(store.size).toBe(0);
    await bench.end();
    expect(store.get(bytes(1))).toEqual(bytes(11));
    await bench.pass(1_000);
    expect(bench.writes).toHaveLength(1);
  });

  it('keeps bytes of its own, and gives others away', async () => {
    const bench = new Bench();
    const { behind } = bench;
    const [key, value] = [bytes(1), bytes(10)];
    behind.put(key, value);
    key[0] = 2;
    value[0] = 99;
    behind.get(bytes(1))?.fill(77);
    expect(behind.get(bytes(1))).toEqual(bytes(10));
    expect(behind.get(bytes(2))).toBeUndefined();
    await bench.drain();
    expect(bench.store.get(bytes(1))).toEqual(bytes(10));
  });

  it('writes what comes during a write after it, and reads the newest of all', async () => {
    const bench = new Bench();
    const { behind, store } = bench;
    behind.put(bytes(1), bytes(10));
    behind.put(bytes(2), bytes(20));
    await bench.pass(WRITE_DELAY_MS);
    behind.del(bytes(1));
    behind.put(bytes(3), bytes(30));
    expect([1, 2, 3].map((key) => behind.get(bytes(key))?.[0])).toEqual([undefined, 20, 30]);
    await bench.pass(1_000);
    expect(bench.writes).toHaveLength(1);
    await bench.end();
    expect([1, 2, 3].map((key) => store.get(bytes(key))?.[0])).toEqual([10, 20, undefined]);
    expect([1, 2, 3].map((key) => behind.get(bytes(key))?.[0])).toEqual([undefined, 20, 30]);
    await bench.pass(WRITE_DELAY_MS);
    await bench.end();
    expect([1, 2, 3].map((key) => store.get(bytes(key))?.[0])).toEqual([undefined, 20, 30]);
  });

  it('`written` waits for no moment, but for a write under way and the one behind it', async () => {
    const bench = new Bench();
    const { behind, store } = bench;
    await behind.written();
    behind.put(bytes(1), bytes(10));
    const first = outcomeOf(behind.written());
    await settled();
    expect(bench.writes).toHaveLength(1);
    behind.put(bytes(2), bytes(20));
    const both = outcomeOf(behind.written());
    await bench.end();
    expect([first.kind, both.kind]).toEqual(['resolved', 'open']);
    expect(bench.writes).toHaveLength(2);
    // Not of its kind any more.
    behind.put(bytes(3), bytes(30));
    await bench.end();
    expect(both.kind).toBe('resolved');
    expect(store.size).toBe(2);
    expect(bench.isWriting).toBe(false);
  });

  it('scans what was put before, and whatever came meanwhile as whole groups', async () => {
    const bench = new Bench();
    const { behind } = bench;
    behind.put(bytes(1), bytes(10));
    const scan = behind.scan(FULL_RANGE);
    behind.put(bytes(2), bytes(20));
    await bench.end();
    expect(await scan).toEqual([{ key: bytes(1), value: bytes(10) }]);
  });

  it('much waits for nothing, and too much is full until it is written', async () => {
    const bench = new Bench();
    const { behind } = bench;
    behind.put(bytes(1), new Uint8Array(MIB));
    expect(bench.writes).toEqual([]);
    await bench.pass(0);
    expect(bench.writes).toHaveLength(1);
    for (let key = 2; key < 8; key += 1) behind.put(bytes(key), new Uint8Array(MIB));
    expect(behind.isFull).toBe(false);
    behind.put(bytes(8), new Uint8Array(MIB));
    expect(behind.isFull).toBe(true);
    await bench.end();
    expect(bench.writes).toHaveLength(2);
    await bench.end();
    expect(behind.isFull).toBe(false);
  });
});

describe('WriteBehind after a failure', () => {
  /** One key is written, the next one fails, a third waits. */
  async function failed() {
    const bench = new Bench();
    const { behind } = bench;
    const heard: unknown[] = [];
    behind.onFailed((error) => heard.push(error));
    behind.put(bytes(1), bytes(10));
    await bench.pass(WRITE_DELAY_MS);
    await bench.end();
    behind.put(bytes(2), bytes(20));
    await bench.pass(WRITE_DELAY_MS);
    behind.put(bytes(3), bytes(30));
    return { bench, behind, heard };
  }

  it('tells of it once, before those who wait, and takes and writes nothing more', async () => {
    const { bench, behind, heard } = await failed();
    behind.onFailed(() => heard.push('never'))[Symbol.dispose]();
    const waiting = behind.written().catch(() => heard.push('waiting'));
    const error = new Error('no space');
    await bench.end(error);
    await waiting;
    expect(heard).toEqual([error, 'waiting']);
    expect(behind.hasFailed).toBe(true);
    expect(() => {
      behind.put(bytes(4), bytes(40));
    }).toThrow(STORAGE);
    expect(() => {
      behind.del(bytes(1));
    }).toThrow(STORAGE);
    await expect(behind.written()).rejects.toThrow(STORAGE);
    await expect(behind.scan(FULL_RANGE)).rejects.toThrow(STORAGE);
    await bench.pass(1_000);
    expect(bench.writes).toHaveLength(2);
    expect(heard).toHaveLength(2);
  });

  it('goes on showing what it showed; the store has what was written', async () => {
    const { bench, behind } = await failed();
    await bench.end(new Error('no space'));
    expect([1, 2, 3].map((key) => behind.get(bytes(key))?.[0])).toEqual([10, 20, 30]);
    bench.reopen();
    expect([1, 2, 3].map((key) => bench.behind.get(bytes(key))?.[0])).toEqual([
      10,
      undefined,
      undefined,
    ]);
    bench.behind.put(bytes(2), bytes(21));
    await bench.drain();
    expect(bench.store.get(bytes(2))).toEqual(bytes(21));
  });

  it('from outside: what is under way lands, nothing after it does, and nobody hears before that', async () => {
    const { bench, behind, heard } = await failed();
    const before = outcomeOf(behind.written());
    behind.fail(new Error('damaged'));
    behind.fail(new Error('twice'));
    expect(heard).toHaveLength(1);
    const after = outcomeOf(behind.written());
    await bench.pass(1_000);
    expect([before.kind, after.kind]).toEqual(['open', 'open']);
    await bench.end();
    expect([before.kind, after.kind]).toEqual(['rejected', 'rejected']);
    await bench.pass(1_000);
    expect([1, 2, 3].map((key) => bench.store.get(bytes(key))?.[0])).toEqual([10, 20, undefined]);
    expect(behind.get(bytes(3))).toEqual(bytes(30));
  });

  it('from outside, with nothing under way: nobody waits for what is never written', async () => {
    const bench = new Bench();
    const { behind } = bench;
    behind.put(bytes(1), bytes(10));
    behind.fail(new Error('damaged'));
    await expect(behind.written()).rejects.toThrow(STORAGE);
    await bench.pass(1_000);
    expect(bench.writes).toEqual([]);
  });

  it('a store that takes no batch has failed too', async () => {
    const bench = new Bench();
    const { behind, store } = bench;
    const heard: unknown[] = [];
    behind.onFailed((error) => heard.push(error));
    behind.put(bytes(1), bytes(10));
    store.batch = () => {
      throw new Error('closed');
    };
    await bench.pass(WRITE_DELAY_MS);
    expect(heard).toEqual([new Error('closed')]);
    await expect(behind.written()).rejects.toThrow(STORAGE);
  });
});

/** Under it every record puts its number. */
const NUMBER_KEY = bytes(0);

type Rows = ReadonlyMap<number, number>;

/** A WriteBehind, and what must be seen through it and behind it. */
class Model {
  readonly bench = new Bench();
  /** Rows after each record; those that a failure took are gone. */
  history: Rows[] = [new Map()];
  /** Promises that were given, and what each must come to. */
  readonly #given: Promise<void>[] = [];
  #stored = 0;

  get #behind(): WriteBehind {
    return this.bench.behind;
  }

  get #newest(): Rows {
    return this.history.at(-1) ?? new Map<number, number>();
  }

  record(changes: Changes): void {
    if (this.#behind.hasFailed) return;
    const rows = new Map(this.#newest);
    for (const [key, value] of changes) {
      if (value === undefined) {
        rows.delete(key);
        this.#behind.del(bytes(key));
      } else {
        rows.set(key, value);
        this.#behind.put(bytes(key), bytes(value));
      }
    }
    const number = this.history.length;
    rows.set(0, number);
    this.#behind.put(NUMBER_KEY, bytes(number));
    this.history.push(rows);
  }

  /** Resolves with everything so far in the store, or rejects because of a failure. */
  written(): void {
    const [behind, wanted] = [this.#behind, this.history.length - 1];
    const given = behind.written().then(
      () => {
        expect(this.#storedNumber()).toBeGreaterThanOrEqual(wanted);
      },
      (error: unknown) => {
        expect(behind.hasFailed).toBe(true);
        expect(error).toEqual(STORAGE);
      },
    );
    this.#given.push(given);
  }

  scan(): void {
    const [behind, history, wanted] = [this.#behind, this.history, this.history.length - 1];
    const given = behind.scan(FULL_RANGE).then(
      (entries) => {
        const rows = new Map(entries.map(({ key, value }) => [key[0] ?? 0, value[0] ?? 0]));
        const number = rows.get(0) ?? 0;
        expect(number).toBeGreaterThanOrEqual(wanted);
        expect(rows).toEqual(history[number]);
      },
      (error: unknown) => {
        expect(behind.hasFailed).toBe(true);
        expect(error).toEqual(STORAGE);
      },
    );
    this.#given.push(given);
  }

  /** As whoever goes on after a failure does. */
  async reopen(): Promise<void> {
    if (!this.#behind.hasFailed) return;
    let isOver = false;
    const over = this.#behind.written().catch(() => {
      isOver = true;
    });
    await this.bench.end();
    await over;
    expect(isOver).toBe(true);
    this.history = this.history.slice(0, this.#storedNumber() + 1);
    this.bench.reopen();
  }

  check(): void {
    const read = new Map<number, number>();
    for (let key = 0; key <= 4; key += 1) {
      const value = this.#behind.get(bytes(key))?.[0];
      if (value !== undefined) read.set(key, value);
    }
    expect(read).toEqual(this.#newest);
    const number = this.#storedNumber();
    expect(number).toBeGreaterThanOrEqual(this.#stored);
    this.#stored = number;
    const stored = new Map<number, number>();
    for (let key = 0; key <= 4; key += 1) {
      const value = this.bench.store.get(bytes(key))?.[0];
      if (value !== undefined) stored.set(key, value);
    }
    expect(stored).toEqual(this.history[number]);
  }

  /** Everything that was promised comes to pass, and all is written that can be. */
  async end(): Promise<void> {
    await this.bench.drain();
    await Promise.all(this.#given);
    this.check();
    if (!this.#behind.hasFailed) expect(this.#storedNumber()).toBe(this.history.length - 1);
  }

  #storedNumber(): number {
    return this.bench.store.get(NUMBER_KEY)?.[0] ?? 0;
  }
}

type Changes = readonly (readonly [key: number, value: number | undefined])[];

type Step =
  | { readonly kind: 'record'; readonly changes: Changes }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'land' | 'written' | 'scan' | 'reopen' | 'write-fails' | 'fail' };

async function take(model: Model, step: Step): Promise<void> {
  switch (step.kind) {
    case 'record':
      model.record(step.changes);
      return;
    case 'pass':
      return model.bench.pass(step.ms);
    case 'land':
      return model.bench.end();
    case 'written':
      model.written();
      return;
    case 'scan':
      model.scan();
      return;
    case 'reopen':
      return model.reopen();
    case 'write-fails':
      return model.bench.end(new Error('no space'));
    case 'fail':
      model.bench.behind.fail(new Error('damaged'));
      return;
    default:
      assertNever(step);
  }
}

describe('WriteBehind, whatever comes when', () => {
  const change = fc.tuple(
    fc.integer({ min: 1, max: 4 }),
    fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }),
  );
  const kind = <Kind extends Step['kind']>(name: Kind) => fc.constant({ kind: name });
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .array(change, { maxLength: 4 })
        .map((changes) => ({ kind: 'record' as const, changes })),
    },
    {
      weight: 3,
      arbitrary: fc
        .integer({ min: 0, max: WRITE_DELAY_MS + 20 })
        .map((ms) => ({ kind: 'pass' as const, ms })),
    },
    { weight: 3, arbitrary: kind('land') },
    { weight: 2, arbitrary: fc.oneof(kind('written'), kind('scan'), kind('reopen')) },
    { weight: 1, arbitrary: fc.oneof(kind('write-fails'), kind('fail')) },
  );

  it('is read as if every record were written, and the store holds whole records up to one of them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (plan) => {
        const model = new Model();
        for (const each of plan) {
          await take(model, each);
          model.check();
        }
        await model.end();
      }),
      { numRuns: 300 },
    );
  });
});
