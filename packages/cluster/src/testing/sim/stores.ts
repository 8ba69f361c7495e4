/** The two stores of the simulated cluster: documents with compare-and-set, and a log per partition with expected sequences. */

import { chainAfter, type Checksum, type LogPosition, type LogRecord } from '@engine/log';

import type { Delay, Party, Service, World } from './world.js';

export interface Entry {
  readonly value: unknown;
  readonly revision: bigint;
}

/** Documents. Revisions grow over all entries, as in a stream. */
export class SimDocuments implements Service {
  readonly name = 'kv';
  isUp = true;
  delay: Delay = { min: 1, max: 10 };
  readonly entries = new Map<string, Entry>();
  readonly #world: World;
  readonly #listeners = new Map<Party, (name: string, entry: Entry) => void>();
  #revision = 0n;

  constructor(world: World) {
    this.#world = world;
  }

  /** Compare-and-set; `done` gets the new revision, `conflict`, or undefined when nobody knows. */
  put(
    by: Party,
    write: {
      readonly name: string;
      readonly value: unknown;
      readonly expected?: bigint | 'absent';
    },
    done: (result: bigint | 'conflict' | undefined) => void,
  ): void {
    this.#world.call(by, this, { work: () => this.#apply(write), done });
  }

  readAll(by: Party, done: (entries: ReadonlyMap<string, Entry> | undefined) => void): void {
    this.#world.call(by, this, { work: () => new Map(this.entries), done });
  }

  watch(by: Party, listener: (name: string, entry: Entry) => void): void {
    this.#listeners.set(by, listener);
  }

  #apply(write: {
    readonly name: string;
    readonly value: unknown;
    readonly expected?: bigint | 'absent';
  }): bigint | 'conflict' {
    const found = this.entries.get(write.name)?.revision ?? 'absent';
    if (write.expected !== undefined && write.expected !== found) return 'conflict';
    const entry = { value: write.value, revision: (this.#revision += 1n) };
    this.entries.set(write.name, entry);
    for (const [party, listener] of this.#listeners)
      this.#tell(party, () => {
        listener(write.name, entry);
      });
    return entry.revision;
  }

  #tell(party: Party, fn: () => void): void {
    const life = party.incarnation;
    this.#world.after(this.#world.chance.between(1, this.delay.max), () => {
      if (this.isUp && !this.#world.isCut(party.id, this.name)) party.run(fn, life);
    });
  }
}

/** Copies of an append that come late: up to so many ms. */
const LATE_MS_MAX = 9_000;

export interface LogRead {
  readonly records: readonly LogRecord[];
  /** Sequence of the last record of the log. */
  readonly last: bigint;
}

/** One log per partition. An append lands only at its own place; its answer says nothing that a reader could not see. */
export class SimLog implements Service {
  readonly name = 'log';
  isUp = true;
  delay: Delay = { min: 1, max: 10 };
  /** Probability of an append that arrives late, after it was given up. */
  lateness = 0;
  /** Probability of a refusal without a reason. */
  falseRefusals = 0;
  readonly records: LogRecord[][];
  readonly #world: World;

  constructor(world: World, partitionCount: number) {
    this.#world = world;
    this.records = Array.from({ length: partitionCount }, () => []);
  }

  append(
    by: Party,
    { partition, record }: { readonly partition: number; readonly record: LogRecord },
    done: (outcome: 'landed' | 'refused' | undefined) => void,
  ): void {
    if (this.#world.chance.happens(this.lateness)) {
      this.#world.after(this.#world.chance.between(0, LATE_MS_MAX), () => {
        if (this.isUp) this.#land(partition, record);
      });
      const silence = { name: this.name, isUp: false, delay: this.delay };
      this.#world.call(by, silence, { work: () => 'landed' as const, done });
      return;
    }
    const work = (): 'landed' | 'refused' =>
      this.#world.chance.happens(this.falseRefusals) ? 'refused' : this.#land(partition, record);
    this.#world.call(by, this, { work, done });
  }

  /** Records after `sequence`, and where the log ended when it was asked. */
  readAfter(
    by: Party,
    { partition, sequence }: { readonly partition: number; readonly sequence: bigint },
    done: (read: LogRead | undefined) => void,
  ): void {
    const log = this.records[partition] ?? [];
    const work = (): LogRead => ({
      records: log.slice(Number(sequence)),
      last: BigInt(log.length),
    });
    this.#world.call(by, this, { work, done });
  }

  #land(partition: number, record: LogRecord): 'landed' | 'refused' {
    const log = this.records[partition] ?? [];
    const isNext = record.sequence === BigInt(log.length + 1);
    if (!isNext) return 'refused';
    const last = log.at(-1);
    if (last !== undefined && record.epoch < last.epoch) {
      this.#world.violate(`partition ${partition}: epoch ${record.epoch} after ${last.epoch}`);
    }
    log.push(record);
    return 'landed';
  }
}

/** FNV-1a over 32 bits, spread to 64: enough to tell histories of a test apart. */
export const simChecksum: Checksum = (bytes) => {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  let mixed = hash;
  for (const byte of bytes) mixed = Math.imul(mixed ^ byte, 0x5bd1e995) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) >>> 0;
  return (BigInt(hash) << 32n) | BigInt(mixed);
};

/** The record after `position` in `epoch`, told apart by `content`. */
export function simRecord(position: LogPosition, epoch: bigint, content: string): LogRecord {
  const bytes = Uint8Array.from(content, (character) => character.charCodeAt(0));
  const mutations = { bytes } as LogRecord['mutations'];
  const bare = { epoch, sequence: position.sequence + 1n, mutations };
  return { ...bare, chain: chainAfter(position.chain, bare, simChecksum) };
}
