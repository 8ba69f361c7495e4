import type { PartitionId } from '@engine/domain';

/** Where a state value stands. */
export interface StatePosition {
  readonly service: string;
  /** Key of the object or workflow. */
  readonly key: string;
  readonly stateKey: string;
}

/** A state value as stored. */
export interface StateSnapshot extends StatePosition {
  /** Decides the partition that keeps the value. */
  readonly partitionKey: bigint;
  readonly value: Uint8Array;
}

export interface StateScanOptions {
  /** Only of this service; undefined = of all. */
  readonly service?: string | undefined;
  /** Only of this object or workflow of the service: one range read. Ignored without `service`. */
  readonly key?: string | undefined;
  /** At most so many. */
  readonly limit: number;
  /** Start behind this value, in the order of the store. */
  readonly after?: StatePosition | undefined;
  /** Only what this partition holds; EngineError `unavailable` from a worker that does not lead it. Undefined = all. */
  readonly partition?: PartitionId | undefined;
}

/** Introspection of the keyed state of all partitions. Reads committed rows; pages, and reads no further than its reader. */
export interface StateScan {
  scanState(options: StateScanOptions): AsyncIterable<StateSnapshot>;
}
