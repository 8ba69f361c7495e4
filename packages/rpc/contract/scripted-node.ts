/** A worker's control as a test says: reports and places as set, stops that end when the test says so. */

import type { PartitionId, PartitionReport } from '@engine/domain';
import type { AppliedPosition, NodeControl } from '@engine/wire';

export interface AskedStop {
  readonly partition: PartitionId;
  readonly epoch: bigint;
  /** With an error: the node says that instead. */
  readonly end: (error?: Error) => void;
}

export class ScriptedNode implements NodeControl {
  readonly stops: AskedStop[] = [];
  says: ReadonlyMap<PartitionId, PartitionReport> = new Map();
  places = new Map<PartitionId, AppliedPosition>();
  /** Thrown by `reports` and `applied`. */
  failure: Error | undefined;

  reports(): Promise<ReadonlyMap<PartitionId, PartitionReport>> {
    return this.failure === undefined ? Promise.resolve(this.says) : Promise.reject(this.failure);
  }

  stopLeading(partition: PartitionId, epoch: bigint): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (error?: Error): void => {
        if (error === undefined) resolve();
        else reject(error);
      };
      this.stops.push({ partition, epoch, end });
    });
  }

  applied(partition: PartitionId): Promise<AppliedPosition | undefined> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    return Promise.resolve(this.places.get(partition));
  }
}
