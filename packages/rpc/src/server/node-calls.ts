/** The control service of a worker, as other nodes ask it. */

import { EngineError, PARTITION_COUNT_MAX, toPartitionId, type PartitionId } from '@engine/domain';
import { appliedToWire, reportsToWire, type NodeControl, type nodeWire } from '@engine/wire';

export class NodeCalls {
  readonly #node: NodeControl;
  /** Who asks again while the node still stops waits for the same end. */
  readonly #stopping = new Map<string, Promise<void>>();

  constructor(node: NodeControl) {
    this.#node = node;
  }

  async reports(): Promise<nodeWire.ReportsResponse> {
    return reportsToWire(await this.#node.reports());
  }

  async stopLeading(request: nodeWire.StopLeadingRequest): Promise<nodeWire.StopLeadingResponse> {
    const partition = partitionOf(request);
    const { epoch } = request;
    const key = `${String(partition)} ${String(epoch)}`;
    let stopped = this.#stopping.get(key);
    if (stopped === undefined) {
      stopped = this.#node.stopLeading(partition, epoch).finally(() => {
        this.#stopping.delete(key);
      });
      this.#stopping.set(key, stopped);
    }
    await stopped;
    return {};
  }

  async applied(request: nodeWire.AppliedRequest): Promise<nodeWire.AppliedResponse> {
    return appliedToWire(await this.#node.applied(partitionOf(request)));
  }
}

function partitionOf({ partition }: { readonly partition: number }): PartitionId {
  if (partition < PARTITION_COUNT_MAX) return toPartitionId(partition);
  throw new EngineError('bad-request', `there is no partition ${String(partition)}`);
}
