/** About how many bytes things take on the way: their payloads, their texts, and a share for what is around them. */

import type {
  Failure,
  Header,
  NotificationResult,
  PartitionAnswer,
  PartitionMessage,
  PartitionRequest,
  Result,
} from '@engine/domain';

/** Ids, numbers and names, which are all short. */
const AROUND_BYTES = 256;

/** Characters to bytes at worst. */
const BYTES_PER_CHARACTER = 3;

export function weightOfRequest(request: PartitionRequest): number {
  switch (request.kind) {
    case 'invoke':
      return weightOfInvocation(request.invocation);
    case 'signal':
      return AROUND_BYTES + weightOfNotification(request.result);
    case 'replace-state':
      return request.entries.reduce(
        (sum, { key, value }) => sum + key.length * BYTES_PER_CHARACTER + value.length + 16,
        AROUND_BYTES + request.key.length * BYTES_PER_CHARACTER,
      );
    default:
      return AROUND_BYTES;
  }
}

export function weightOfAnswer(answer: PartitionAnswer): number {
  return answer.kind === 'result' ? AROUND_BYTES + weightOfResult(answer.result) : AROUND_BYTES;
}

export function weightOfMessage(message: PartitionMessage): number {
  switch (message.kind) {
    case 'invoke':
      return weightOfInvocation(message.request);
    case 'respond':
      return AROUND_BYTES + weightOfNotification(message.result);
    case 'signal':
      return AROUND_BYTES + weightOfNotification(message.result);
    default:
      return AROUND_BYTES;
  }
}

function weightOfInvocation(invocation: {
  readonly payload: Uint8Array;
  readonly headers: readonly Header[];
}): number {
  let bytes = AROUND_BYTES + invocation.payload.length;
  for (const { key, value } of invocation.headers) {
    bytes += (key.length + value.length) * BYTES_PER_CHARACTER;
  }
  return bytes;
}

function weightOfResult(result: Result): number {
  return result.kind === 'success' ? result.value.length : weightOfFailure(result.failure);
}

function weightOfNotification(result: NotificationResult): number {
  switch (result.kind) {
    case 'value':
      return result.value.length;
    case 'failure':
      return weightOfFailure(result.failure);
    case 'invocation-id':
      return result.id.length;
    case 'state-keys':
      return result.keys.reduce((sum, key) => sum + key.length * BYTES_PER_CHARACTER + 4, 0);
    case 'void':
      return 0;
  }
}

function weightOfFailure(failure: Failure): number {
  let characters = failure.message.length + (failure.stacktrace?.length ?? 0);
  for (const { key, value } of failure.metadata) characters += key.length + value.length;
  return characters * BYTES_PER_CHARACTER;
}
