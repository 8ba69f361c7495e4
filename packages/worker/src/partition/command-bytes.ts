import type { NotificationResult, PartitionMessage, Result } from '@engine/domain';
import type { Command } from '@engine/state-machine';

/** Bytes of the payloads that a command carries while it waits to be decided. */
export function payloadBytesOfCommand(command: Command): number {
  switch (command.kind) {
    case 'InvokeHandler':
      return command.request.payload.length;
    case 'SendSignal':
      return bytesOfResult(command.result);
    case 'ReplaceState':
      return command.entries.reduce((sum, { value }) => sum + value.length, 0);
    case 'MessageArrived':
      return bytesOfMessage(command.message);
    case 'CommandReceived': {
      const { entry } = command;
      return entry.type === 'output' ? bytesOfResult(entry.result) : entry.raw.length;
    }
    case 'RunCompletionProposed':
      return bytesOfResult(command.result);
    default:
      return 0;
  }
}

function bytesOfMessage(message: PartitionMessage): number {
  switch (message.kind) {
    case 'invoke':
      return message.request.payload.length;
    case 'respond':
    case 'signal':
      return bytesOfResult(message.result);
    default:
      return 0;
  }
}

function bytesOfResult(result: Result | NotificationResult): number {
  return result.kind === 'success' || result.kind === 'value' ? result.value.length : 0;
}
