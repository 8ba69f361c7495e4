import type { PartitionAnswer, PartitionRequest } from '@engine/domain';

/**
 * The way of ingress and admin to the leaders of partitions. A request goes to the partition of its invocation id. In one
 * process this is a call into the worker, between processes a batched stream.
 */
export interface PartitionChannel {
  /**
   * Effects: `respond` is called at most once, never before `send` returns; after what the answer says is durable. A request
   * that is not answered may be sent again with the same request id.
   */
  send(request: PartitionRequest, respond: (answer: PartitionAnswer) => void): void;
}
