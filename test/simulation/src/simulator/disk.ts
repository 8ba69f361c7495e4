/**
 * A disk under a key-value store, as LevelDB leaves it: batches take effect one after the other and whole; a synced batch makes
 * itself and all before it durable, and so does time: the system writes back what is old. A crash keeps what is durable and, of
 * the rest, any prefix: whole batches, in order, down to none. A power cut may also lose the end of the older of two write-ahead
 * files and keep the newer: batches in the middle are gone. A failed write tells nothing about what reached the disk.
 */

import type { Chance } from './chance.js';
import type { EventLoop } from './event-loop.js';

/** A key as text: one character per byte, so text order is byte order. */
export type DiskKey = string;

export interface DiskWrite {
  readonly key: DiskKey;
  /** Undefined deletes. */
  readonly value: Uint8Array | undefined;
}

type Batch = readonly DiskWrite[];

export interface DiskFaults {
  /** Share of writes that fail. */
  writeFailure: number;
  /** Typical and longest time of a synced write, ms. */
  syncMs: number;
  syncMsMax: number;
}

/** Batches that may be lost without a sync; older ones were written back. */
const UNSYNCED_MAX = 128;

export class SimDisk {
  readonly #loop: EventLoop;
  readonly #chance: Chance;
  readonly #faults: DiskFaults;
  readonly #durable = new Map<DiskKey, Uint8Array>();
  #visible = new Map<DiskKey, Uint8Array>();
  #sortedKeys: DiskKey[] | undefined;
  /** Took effect and may be lost. */
  #unsynced: Batch[] = [];
  /** On their way, in order. */
  #inFlight: Batch[] = [];
  #busyUntil = 0;
  /** A write failed: until the next crash no other one is let through. */
  #isBroken = false;
  #generation = 0;
  /** From now on every write fails, until the next crash. */
  #isDoomed = false;

  constructor(dependencies: {
    readonly loop: EventLoop;
    readonly chance: Chance;
    readonly faults: DiskFaults;
  }) {
    this.#loop = dependencies.loop;
    this.#chance = dependencies.chance;
    this.#faults = dependencies.faults;
  }

  /** What a crash cannot take away. */
  get durable(): ReadonlyMap<DiskKey, Uint8Array> {
    return this.#durable;
  }

  get(key: DiskKey): Uint8Array | undefined {
    return this.#visible.get(key);
  }

  /** Keys of what the running process sees, in order. */
  keys(): readonly DiskKey[] {
    this.#sortedKeys ??= [...this.#visible.keys()].sort();
    return this.#sortedKeys;
  }

  /** Takes effect later; `done` gets the error of a failed write and is not called after a crash. */
  write(batch: Batch, sync: boolean, done: (error: Error | undefined) => void): void {
    const generation = this.#generation;
    this.#inFlight.push(batch);
    const { syncMs, syncMsMax, writeFailure } = this.#faults;
    const takes = sync ? this.#chance.delay(syncMs, syncMsMax) : this.#chance.delay(0.05, 2);
    const fails = this.#chance.happens(writeFailure) || this.#isDoomed;
    this.#busyUntil = Math.max(this.#busyUntil, this.#loop.now) + takes;
    this.#loop.at(this.#busyUntil, () => {
      if (generation !== this.#generation) return;
      this.#isBroken ||= fails;
      if (this.#isBroken) {
        // The batch stays among those whose fate the crash decides.
        done(new Error('input/output error'));
        return;
      }
      this.#inFlight.shift();
      this.#takeEffect(batch, sync);
      done(undefined);
    });
  }

  /** The disk fails: every write from now on, until the next crash. */
  fail(): void {
    this.#isDoomed = true;
  }

  /** Another, empty disk in its place. Nobody may be using it. */
  wipe(): void {
    this.#durable.clear();
    this.#restartWith([]);
  }

  /** Loses what is not durable, down to a point that chance picks. The next process finds the rest. */
  crash(): { readonly lost: number; readonly landed: number } {
    const open = [...this.#unsynced, ...this.#inFlight];
    const landed = this.#chance.below(open.length + 1);
    this.#restartWith(open.slice(0, landed));
    return { lost: open.length - landed, landed };
  }

  /**
   * As `crash`, but batches are lost from the middle: the end of the older write-ahead file, while all of the newer was kept. Without
   * enough batches that are not durable nothing is lost.
   */
  powerCut(): { readonly lost: number; readonly landed: number } {
    const open = [...this.#unsynced, ...this.#inFlight];
    const newerFrom = Math.max(1, this.#chance.between(1, Math.max(1, open.length - 1)));
    const lostFrom = this.#chance.below(newerFrom);
    const kept = [...open.slice(0, lostFrom), ...open.slice(newerFrom)];
    this.#restartWith(kept);
    return { lost: open.length - kept.length, landed: kept.length };
  }

  #restartWith(landed: readonly Batch[]): void {
    this.#generation += 1;
    this.#busyUntil = 0;
    this.#isBroken = false;
    this.#isDoomed = false;
    for (const batch of landed) apply(this.#durable, batch);
    this.#unsynced = [];
    this.#inFlight = [];
    this.#visible = new Map(this.#durable);
    this.#sortedKeys = undefined;
  }

  #takeEffect(batch: Batch, sync: boolean): void {
    apply(this.#visible, batch);
    this.#sortedKeys = undefined;
    this.#unsynced.push(batch);
    if (!sync) {
      const old = this.#unsynced.length > UNSYNCED_MAX ? this.#unsynced.shift() : undefined;
      if (old !== undefined) apply(this.#durable, old);
      return;
    }
    for (const synced of this.#unsynced) apply(this.#durable, synced);
    this.#unsynced = [];
  }
}

function apply(contents: Map<DiskKey, Uint8Array>, batch: Batch): void {
  for (const { key, value } of batch) {
    if (value === undefined) contents.delete(key);
    else contents.set(key, value);
  }
}
