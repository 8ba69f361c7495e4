/**
 * Snapshots of partitions in an object store: taking, listing, deleting, reading back.
 *
 * A snapshot is segments and, written last, a manifest. Each segment was read back and verified before its manifest was written, so
 * whatever has a manifest was whole once. What has none, or a damaged one, does not count.
 */

import { EngineError, isEngineError, type PartitionId } from '@engine/domain';
import type { LogPosition } from '@engine/log';
import type { Clock, Random } from '@engine/runtime';
import { PARTITION_FORMAT, TABLES, type KvEntry } from '@engine/storage';
import { Deferred, toHex } from '@engine/stdx';
import { positionRow, type StoredPosition } from '@engine/wire';

import type { SnapshotEvent } from './events.js';
import { SNAPSHOTS_KEPT } from './limits.js';
import {
  decodeManifest,
  encodeManifest,
  type Snapshot,
  type SnapshotManifest,
} from './manifest.js';
import {
  listedSnapshots,
  manifestObject,
  ownerPrefix,
  segmentObject,
  snapshotName,
  type ListedSnapshot,
  type SnapshotOwner,
} from './object-names.js';
import type { ObjectStore } from './object-store.js';
import {
  DamagedSnapshot,
  openSegment,
  SegmentPacker,
  slicesOf,
  type SegmentSummary,
} from './segment.js';

export interface PartitionSnapshotsOptions {
  /** Id of the cluster. */
  readonly cluster: string;
  /** Of its logs. */
  readonly incarnation: bigint;
  /** Name of this node. */
  readonly node: string;
}

export interface PartitionSnapshotsDependencies {
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly onEvent?: (event: SnapshotEvent) => void;
}

export interface TakeRequest {
  readonly partition: PartitionId;
  /** What the rows hold at least. */
  readonly sequence: bigint;
  /** All rows of the partition as of one moment, keys relative to it. */
  readonly rows: AsyncIterable<readonly KvEntry[]>;
  readonly signal: AbortSignal;
}

/** Where a restore puts the rows of one snapshot. */
export interface RestoreTarget {
  /** Durable when it resolves. One at a time; the rows are views that are good until then. */
  write(rows: readonly KvEntry[]): Promise<void>;
  /** What is wrong with what was written, undefined when it is a whole partition that stands at `position`. */
  problem(position: LogPosition): Promise<string | undefined>;
}

export class PartitionSnapshots {
  readonly #options: PartitionSnapshotsOptions;
  readonly #objects: ObjectStore;
  readonly #dependencies: PartitionSnapshotsDependencies;

  constructor(options: PartitionSnapshotsOptions, dependencies: PartitionSnapshotsDependencies) {
    this.#options = options;
    this.#objects = dependencies.objects;
    this.#dependencies = dependencies;
  }

  /**
   * Uploads a snapshot, reading back each piece, and makes it count. One segment is in memory at a time. When `signal` aborts, the
   * rows are left at once.
   *
   * Throws EngineError `storage` when what was put is not what is there, and as the object store does; rejects with the signal's
   * reason. Then nothing new counts, and what was put is deleted as far as possible.
   */
  async take({ partition, sequence, rows, signal }: TakeRequest): Promise<Snapshot> {
    const owner = this.#owner(partition);
    const prefix = ownerPrefix(owner);
    const name = snapshotName(sequence, toHex(this.#dependencies.random.bytes(8)));
    const upload = new SnapshotUpload(prefix, name, this.#objects);
    try {
      for await (const page of rows) await untilAborted(upload.add(page), signal);
      const { stored, segments } = await untilAborted(upload.end(), signal);
      const bytes = await encodeManifest(this.#describe(owner, stored, segments));
      signal.throwIfAborted();
      await this.#objects.put(manifestObject(prefix, name), bytes);
      return { name, manifest: await readBack(this.#manifest(owner, name)) };
    } catch (error) {
      const discarded = this.#discard(`${prefix}${name}/`);
      // Who aborts does not wait for a store that may hang.
      if (!signal.aborted) await discarded;
      throw error;
    }
  }

  /** The snapshots that count, newest first. Throws as the object store does. */
  async list(partition: PartitionId): Promise<readonly Snapshot[]> {
    return (await this.#find(partition)).good;
  }

  /**
   * Deletes what is older than the newest SNAPSHOTS_KEPT that count, and what was left behind before the newest. Throws as the
   * object store does. Returns what counts then, newest first.
   */
  async prune(partition: PartitionId): Promise<readonly Snapshot[]> {
    const { good, listed } = await this.#find(partition);
    const kept = good.slice(0, SNAPSHOTS_KEPT);
    const [newest] = kept;
    if (newest === undefined) return kept;
    const keptNames = new Set(kept.map(({ name }) => name));
    for (const { name, objects } of listed) {
      // What is newer and does not count may be on its way.
      if (keptNames.has(name) || name > newest.name) continue;
      await this.#delete(partition, name, objects);
    }
    return kept;
  }

  /**
   * Reads the newest snapshot that can be verified. `begin` opens a target for each that is tried; the last one has the rows.
   * Resolves with the position of the rows, undefined when there is no snapshot; then no target counts.
   *
   * Throws EngineError `storage` when there are several and none is whole, what the object store throws, and what the target throws;
   * rejects with the signal's reason.
   */
  async restore(
    partition: PartitionId,
    begin: () => RestoreTarget,
    signal: AbortSignal,
  ): Promise<LogPosition | undefined> {
    const { good, damagedCount } = await this.#find(partition);
    for (const { name, manifest } of good) {
      try {
        await this.#read({ name, manifest }, begin(), signal);
        return manifest.position;
      } catch (error) {
        if (!(error instanceof DamagedSnapshot)) throw error;
        this.#skipped(partition, name, error);
      }
    }
    // The log is trimmed only behind two snapshots.
    if (good.length + damagedCount < SNAPSHOTS_KEPT) return undefined;
    const message = `no snapshot of partition ${String(partition)} is whole`;
    throw new EngineError('storage', message, { details: { partition } });
  }

  #describe(
    owner: SnapshotOwner,
    { epoch, sequence, chain, writtenBytes }: StoredPosition,
    segments: readonly SegmentSummary[],
  ): SnapshotManifest {
    return {
      owner,
      partitionFormat: PARTITION_FORMAT,
      node: this.#options.node,
      takenAt: this.#dependencies.clock.now(),
      position: { epoch, sequence, chain },
      writtenBytes,
      segments,
    };
  }

  async #discard(prefix: string): Promise<void> {
    try {
      const objects = await this.#objects.list(prefix);
      for (const object of objects.toReversed()) await this.#objects.delete(object);
    } catch {
      // What is left does not count, and goes with the next snapshot that does.
    }
  }

  async #read(
    { name, manifest: { owner, segments, position } }: Snapshot,
    target: RestoreTarget,
    signal: AbortSignal,
  ): Promise<void> {
    const prefix = ownerPrefix(owner);
    for (const [index, segment] of segments.entries()) {
      signal.throwIfAborted();
      const object = await this.#get(segmentObject(prefix, name, index));
      for (const slice of slicesOf(await openSegment(object, segment))) {
        signal.throwIfAborted();
        await target.write(slice);
      }
    }
    const problem = await target.problem(position);
    if (problem !== undefined) throw new DamagedSnapshot(problem);
  }

  async #find(partition: PartitionId): Promise<{
    readonly good: readonly Snapshot[];
    readonly damagedCount: number;
    readonly listed: readonly ListedSnapshot[];
  }> {
    const owner = this.#owner(partition);
    const prefix = ownerPrefix(owner);
    const listed = listedSnapshots(prefix, await this.#objects.list(prefix));
    const good: Snapshot[] = [];
    let damagedCount = 0;
    for (const { name, hasManifest } of listed) {
      if (!hasManifest) continue;
      try {
        good.push({ name, manifest: await this.#manifest(owner, name) });
      } catch (error) {
        if (!(error instanceof DamagedSnapshot)) throw error;
        damagedCount += 1;
        this.#skipped(partition, name, error);
      }
    }
    return { good: good.sort(newestFirst), damagedCount, listed };
  }

  async #manifest(owner: SnapshotOwner, name: string): Promise<SnapshotManifest> {
    const bytes = await this.#get(manifestObject(ownerPrefix(owner), name));
    if (bytes === undefined) throw new DamagedSnapshot('the manifest is gone');
    return decodeManifest(bytes, owner);
  }

  /** Throws DamagedSnapshot where the store says `storage`: another object may be whole. */
  async #get(object: string): Promise<Uint8Array | undefined> {
    try {
      return await this.#objects.get(object);
    } catch (cause) {
      if (!isEngineError(cause) || cause.code !== 'storage') throw cause;
      throw new DamagedSnapshot(cause.message, { cause });
    }
  }

  /** The manifest first: half of a snapshot never counts. */
  async #delete(partition: PartitionId, name: string, objects: readonly string[]): Promise<void> {
    const manifest = manifestObject(ownerPrefix(this.#owner(partition)), name);
    await this.#objects.delete(manifest);
    for (const object of objects) if (object !== manifest) await this.#objects.delete(object);
    this.#dependencies.onEvent?.({ kind: 'deleted', partition, name });
  }

  #skipped(partition: PartitionId, name: string, error: DamagedSnapshot): void {
    this.#dependencies.onEvent?.({ kind: 'skipped', partition, name, why: error.message });
  }

  #owner(partition: PartitionId): SnapshotOwner {
    const { cluster, incarnation } = this.#options;
    return { cluster, incarnation, partition };
  }
}

/** The segments of one snapshot on their way. */
class SnapshotUpload {
  readonly #prefix: string;
  readonly #name: string;
  readonly #objects: ObjectStore;
  readonly #packer = new SegmentPacker();
  readonly #segments: SegmentSummary[] = [];
  #stored: StoredPosition | undefined;

  constructor(prefix: string, name: string, objects: ObjectStore) {
    this.#prefix = prefix;
    this.#name = name;
    this.#objects = objects;
  }

  async add(page: readonly KvEntry[]): Promise<void> {
    const position = page.find(({ key }) => key.length === 1 && key[0] === TABLES.position);
    if (position !== undefined) this.#stored = positionRow.read(position.value);
    if (this.#packer.add(page)) await this.#put();
  }

  async end(): Promise<{
    readonly stored: StoredPosition;
    readonly segments: readonly SegmentSummary[];
  }> {
    if (!this.#packer.isEmpty) await this.#put();
    if (this.#stored !== undefined) return { stored: this.#stored, segments: this.#segments };
    throw new EngineError('storage', 'rows without a position are no partition');
  }

  async #put(): Promise<void> {
    const { object, summary } = await this.#packer.close();
    const name = segmentObject(this.#prefix, this.#name, this.#segments.length);
    await this.#objects.put(name, object);
    await readBack(openSegment(await this.#objects.get(name), summary));
    this.#segments.push(summary);
  }
}

/** Throws EngineError `storage` where the object is damaged although it was just put. */
async function readBack<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (cause) {
    if (isEngineError(cause)) throw cause;
    throw new EngineError('storage', 'what was put is not what is there', { cause });
  }
}

/** Rejects as soon as the signal aborts, whatever becomes of the work. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Deferred<never>();
  const onAbort = (): void => {
    aborted.reject(signal.reason);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function newestFirst(a: Snapshot, b: Snapshot): number {
  const [left, right] = [a.manifest.position.sequence, b.manifest.position.sequence];
  if (left !== right) return left < right ? 1 : -1;
  return a.name < b.name ? 1 : -1;
}
