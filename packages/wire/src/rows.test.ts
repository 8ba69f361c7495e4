import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import type { AwaitTree, Invocation } from '@engine/domain';
import {
  arbitraryAck,
  arbitraryAnswer,
  arbitraryBatch,
  arbitraryInboxEntry,
  arbitraryInvocation,
  arbitraryJournalEntry,
  arbitraryJournalSnapshot,
  arbitraryMessage,
  arbitraryObjectLock,
  arbitraryPromise,
  arbitraryRequest,
  arbitrarySnapshot,
  arbitraryStateSnapshot,
} from '../contract/index.js';
import {
  InvocationSnapshot,
  JournalSnapshot,
  MessageAck,
  MessageBatch,
  StateSnapshot,
} from './gen/engine/worker/v1/worker.js';
import { PartitionAnswer, PartitionRequest } from './gen/engine/worker/v1/request.js';
import {
  encodeRow,
  inboundRow,
  inboxRow,
  invocationRow,
  journalRow,
  journalSnapshotFromWire,
  journalSnapshotToWire,
  messageAckFromWire,
  messageAckToWire,
  messageBatchFromWire,
  messageBatchToWire,
  notificationIndexRow,
  objectLockRow,
  outboxRow,
  partitionAnswerFromWire,
  partitionAnswerToWire,
  partitionRequestFromWire,
  partitionRequestToWire,
  promiseDirectoryRow,
  promiseRow,
  snapshotFromWire,
  snapshotToWire,
  stateDirectoryRow,
  stateRow,
  stateSnapshotFromWire,
  stateSnapshotToWire,
  recordTimeRow,
  type RowCodec,
} from './index.js';

/** fast-check prints the seed and the smallest counter-example. */
function returns<Row>(codec: RowCodec<Row>, rows: fc.Arbitrary<Row>): void {
  fc.assert(
    fc.property(rows, (row) => {
      expect(codec.read(encodeRow(codec, row))).toEqual(row);
    }),
  );
}

const count = fc.nat(2 ** 31);

describe('rows come back as they were written', () => {
  it('invocation', () => {
    returns(invocationRow, arbitraryInvocation);
  });
  it('journal', () => {
    returns(journalRow, arbitraryJournalEntry);
  });
  it('outbox', () => {
    returns(outboxRow, arbitraryMessage);
  });
  it('promise', () => {
    returns(promiseRow, arbitraryPromise);
  });
  it('small rows', () => {
    returns(inboundRow, fc.maxSafeNat());
    returns(recordTimeRow, fc.maxSafeNat());
    returns(stateRow, fc.uint8Array());
    returns(promiseDirectoryRow, fc.record({ names: fc.array(fc.string({ unit: 'grapheme' })) }));
    returns(
      stateDirectoryRow,
      fc.record({ entries: fc.array(fc.record({ key: fc.string(), sizeBytes: count })) }),
    );
    returns(
      notificationIndexRow,
      fc.record({ firstIndex: count, lastIndex: count, succeeded: fc.boolean() }),
    );
    returns(objectLockRow, arbitraryObjectLock);
    returns(inboxRow, arbitraryInboxEntry);
  });

  it('an await tree as deep as the limit', () => {
    let tree: AwaitTree = { kind: 'single', id: { kind: 'completion', id: 7 } };
    for (let i = 0; i < 1_000; i++) tree = { kind: 'all-completed', children: [tree] };
    const [sample] = fc.sample(arbitraryInvocation, 1);
    const row: Invocation = { ...(sample as Invocation), awaitingOn: tree };
    const read = invocationRow.read(encodeRow(invocationRow, row));
    expect(JSON.stringify(read.awaitingOn)).toBe(JSON.stringify(tree));
  });

  it('requests and answers', () => {
    fc.assert(
      fc.property(arbitraryRequest, (request) => {
        const bytes = PartitionRequest.encode(partitionRequestToWire(request)).finish();
        expect(partitionRequestFromWire(PartitionRequest.decode(bytes))).toEqual(request);
      }),
    );
    fc.assert(
      fc.property(arbitraryAnswer, (answer) => {
        const bytes = PartitionAnswer.encode(partitionAnswerToWire('r1', answer)).finish();
        const message = PartitionAnswer.decode(bytes);
        expect(message.requestId).toBe('r1');
        expect(partitionAnswerFromWire(message)).toEqual(answer);
      }),
    );
  });

  it('what workers tell each other', () => {
    fc.assert(
      fc.property(arbitraryBatch, (batch) => {
        const bytes = MessageBatch.encode(messageBatchToWire(batch)).finish();
        expect(messageBatchFromWire(MessageBatch.decode(bytes))).toEqual(batch);
      }),
    );
    fc.assert(
      fc.property(arbitraryAck, (ack) => {
        const bytes = MessageAck.encode(messageAckToWire(ack)).finish();
        expect(messageAckFromWire(MessageAck.decode(bytes))).toEqual(ack);
      }),
    );
    fc.assert(
      fc.property(arbitrarySnapshot, (snapshot) => {
        const bytes = InvocationSnapshot.encode(snapshotToWire(snapshot)).finish();
        expect(snapshotFromWire(InvocationSnapshot.decode(bytes))).toEqual(snapshot);
      }),
    );
  });

  it('what introspection reads', () => {
    fc.assert(
      fc.property(arbitraryJournalSnapshot, (snapshot) => {
        const bytes = JournalSnapshot.encode(journalSnapshotToWire(snapshot)).finish();
        expect(journalSnapshotFromWire(JournalSnapshot.decode(bytes))).toEqual(snapshot);
      }),
    );
    fc.assert(
      fc.property(arbitraryStateSnapshot, (snapshot) => {
        const bytes = StateSnapshot.encode(stateSnapshotToWire(snapshot)).finish();
        expect(stateSnapshotFromWire(StateSnapshot.decode(bytes))).toEqual(snapshot);
      }),
    );
  });

  it('bytes that are no row are refused with a code', () => {
    for (const bytes of [Uint8Array.of(0xff), Uint8Array.of(0x08, 99), new Uint8Array(0)]) {
      expect(() => invocationRow.read(bytes)).toThrow(expect.objectContaining({ code: 'storage' }));
    }
  });
});
