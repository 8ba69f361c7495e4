import type { PartitionAnswer, PartitionRequest } from '@engine/domain';

/**
 * The way of ingress and admin to the leaders of partitions. A request goes to the partition of its invocation id. In one
 * process this is a call into the worker, between processes a batched stream.
 */
export interface PartitionChannel {
  /**
   * Effects: `respond` is called at most once, never before `send` returns; after what the answer says is durable. A request
   * that is not answered, or answered `stopping`, `not-leader` or `disconnected`, may be sent again with the same request id. A
   * way between processes that breaks answers `disconnected`; it never leaves a request without an answer.
   *
   * While a request waits for its answer, a second one with its id takes its place: the first is never answered.
   */
  send(request: PartitionRequest, respond: (answer: PartitionAnswer) => void): SentRequest;
}

/** A request on its way. */
export interface SentRequest {
  /**
   * Nobody waits for the answer any more: `respond` is not called after this. The request itself goes on; one that has not
   * left yet may stay behind. Harmless after the answer.
   */
  withdraw(): void;
}

/** Of a channel that has nothing to call back. */
export const IRREVOCABLE: SentRequest = { withdraw: () => undefined };
