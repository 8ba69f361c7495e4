/** Rules that are broken on purpose, to see that somebody finds it. */

import type { LogStream } from '@engine/nats/contract';
import type { MessageBatch } from '@engine/wire';

import type { RowsView } from '../simulator/rows-view.js';

/** A leader goes by a refusal alone: it takes it for the proof that somebody else wrote. */
export function refusalsBelieved(stream: LogStream): LogStream {
  let refusedAt = 0;
  return {
    get payloadBytesMax() {
      return stream.payloadBytesMax;
    },
    publish: ({ payload, expectedLast, onAnswer }) =>
      stream.publish({
        payload,
        expectedLast,
        onAnswer: (answer) => {
          if (answer.kind === 'wrong-last') refusedAt = expectedLast + 1;
          onAnswer(answer);
        },
      }),
    get: async (sequence) => {
      const found = await stream.get(sequence);
      if (found !== undefined || sequence !== refusedAt) return found;
      refusedAt = 0;
      return { sequence, payload: Uint8Array.of(0) };
    },
    state: () => stream.state(),
    messages: (from, signal) => stream.messages(from, signal),
    purgeBelow: (sequence) => stream.purgeBelow(sequence),
    onReconnect: (listener) => stream.onReconnect(listener),
  };
}

/** Messages get the numbers that their receiver waits for. */
export function numbersForgotten(batch: MessageBatch, view: RowsView): MessageBatch {
  const applied = view.state(batch.destination).inbound(batch.sender) ?? -1;
  return { ...batch, first: applied + 1 };
}
