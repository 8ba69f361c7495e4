/** Stored rows, log records and messages between processes: torn, flipped, forged. A value that is read can be written and read again. */

import { chainAfter } from '@engine/log';
import { loadHashes } from '@engine/domain';
import { assert, equalBytes } from '@engine/stdx';
import {
  appliedFromWire,
  appliedToWire,
  chainLinkRow,
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
  MutationWriter,
  NodeServiceDefinition,
  notificationIndexRow,
  objectLockRow,
  outboxCursorRow,
  outboxRow,
  partitionAnswerFromWire,
  partitionAnswerToWire,
  partitionRequestFromWire,
  partitionRequestToWire,
  positionRow,
  promiseDirectoryRow,
  promiseRow,
  recordRow,
  recordTimeRow,
  reportsFromWire,
  reportsToWire,
  snapshotFromWire,
  snapshotToWire,
  stateDirectoryRow,
  stateRow,
  stateSnapshotFromWire,
  stateSnapshotToWire,
  timerRow,
  visitMutations,
  WorkerServiceDefinition,
  type RowCodec,
} from '@engine/wire';
import {
  arbitraryAck,
  arbitraryAnswer,
  arbitraryApplied,
  arbitraryBatch,
  arbitraryInboxEntry,
  arbitraryInvocation,
  arbitraryJournalEntry,
  arbitraryJournalSnapshot,
  arbitraryMessage,
  arbitraryObjectLock,
  arbitraryPromise,
  arbitraryReports,
  arbitraryRequest,
  arbitrarySnapshot,
  arbitraryStateSnapshot,
} from '@engine/wire/contract';
import fc from 'fast-check';

import type { Chance } from '../chance.js';
import { samplesOf } from '../corpora.js';
import { mutateBytes } from '../mutate.js';
import { codedOnly, openTarget, type Target } from '../target.js';

/** One kind of bytes: valid examples, and what reading them must keep to. */
interface Kind {
  readonly corpus: readonly Uint8Array[];
  judge(bytes: Uint8Array): void;
}

const { exchange, deliver, scan, scanJournal, scanState } = WorkerServiceDefinition.methods;
const { reports, applied } = NodeServiceDefinition.methods;

export const rows: Target = {
  name: 'rows',
  open: async () => {
    const { xxh3 } = await checksums();
    const kinds = [...rowKinds(), recordKind(xxh3), mutationsKind(), ...messageKinds()];
    return openTarget((chance) => {
      const kind = chance.pick(kinds);
      const bytes = bytesOf(chance, kind, kinds);
      return {
        bytes,
        run: () => {
          kind.judge(bytes);
        },
      };
    });
  },
};

/** Mostly bytes of the kind itself, sometimes those of another, sometimes noise. */
function bytesOf(chance: Chance, kind: Kind, kinds: readonly Kind[]): Uint8Array {
  const choice = chance.below(20);
  if (choice === 0) return chance.bytes(chance.length(300));
  const bytes = chance.pick((choice === 1 ? chance.pick(kinds) : kind).corpus);
  return choice < 4 ? bytes : mutateBytes(chance, bytes);
}

function rowKinds(): Kind[] {
  const count = fc.nat(2 ** 31);
  const u64 = fc.bigInt(0n, 2n ** 64n - 1n);
  const text = fc.string({ unit: 'grapheme' });
  return [
    rowKind(invocationRow, arbitraryInvocation),
    rowKind(journalRow, arbitraryJournalEntry),
    rowKind(outboxRow, arbitraryMessage),
    rowKind(promiseRow, arbitraryPromise),
    rowKind(inboundRow, fc.maxSafeNat()),
    rowKind(recordTimeRow, fc.maxSafeNat()),
    rowKind(stateRow, fc.uint8Array()),
    rowKind(promiseDirectoryRow, fc.record({ names: fc.array(text) })),
    rowKind(inboxRow, arbitraryInboxEntry),
    rowKind(outboxCursorRow, fc.record({ head: count, tail: count }) as never),
    rowKind(timerRow, fc.record({}) as never),
    rowKind(chainLinkRow, fc.record({ chain: u64, writtenBytes: count })),
    rowKind(
      positionRow,
      fc.record({ epoch: u64, sequence: u64, chain: u64, oldest: u64, writtenBytes: count }),
    ),
    rowKind(
      stateDirectoryRow,
      fc.record({ entries: fc.array(fc.record({ key: text, sizeBytes: count })) }),
    ),
    rowKind(
      notificationIndexRow,
      fc.record({ firstIndex: count, lastIndex: count, succeeded: fc.boolean() }),
    ),
    rowKind(objectLockRow, arbitraryObjectLock),
  ];
}

function rowKind<Row>(codec: RowCodec<Row>, arbitrary: fc.Arbitrary<Row>): Kind {
  return {
    corpus: samplesOf(arbitrary).map((row) => encodeRow(codec, row)),
    judge: (bytes) => {
      const read = codedOnly(['storage'], () => ({ row: codec.read(bytes) }));
      if (read === undefined) return;
      const written = encodeRow(codec, read.row);
      const again = encodeRow(codec, codec.read(written));
      assert(equalBytes(written, again), 'what was read can be written and read again');
    },
  };
}

type Checksum = Parameters<typeof chainAfter>[2];

async function checksums(): Promise<{ readonly xxh3: Checksum }> {
  const hashes = await loadHashes();
  return { xxh3: (bytes) => hashes.xxh3(bytes) };
}

function recordKind(checksum: Checksum): Kind {
  const writer = new MutationWriter();
  const pair = fc.tuple(
    fc.uint8Array({ minLength: 1 }),
    fc.option(fc.uint8Array({ maxLength: 300 })),
  );
  const corpus = samplesOf(fc.array(pair)).map((pairs, index) => {
    for (const [key, value] of pairs) {
      if (value === null) writer.del(key);
      else writer.put(key, value);
    }
    const { bytes: content, count: mutationCount } = writer.finish();
    const sequence = BigInt(index);
    const place = { format: 1, epoch: 1n, sequence, chain: sequence };
    const whole = { part: 0, partCount: 1, isAnnouncement: false };
    return encodeRow(recordRow, { ...place, ...whole, content, mutationCount });
  });
  return {
    corpus,
    judge: (bytes) => {
      const message = codedOnly(['storage'], () => recordRow.read(bytes));
      if (message === undefined) return;
      const { content, mutationCount: count } = message;
      chainAfter(0n, { ...message, mutations: { bytes: content, count } }, checksum);
      codedOnly(['storage'], () => visitMutations({ bytes: content, count }, () => undefined));
    },
  };
}

function mutationsKind(): Kind {
  const { corpus } = recordKind(() => 0n);
  return {
    corpus: corpus.map((bytes) => recordRow.read(bytes).content),
    judge: (bytes) => {
      codedOnly(['storage'], () => {
        visitMutations({ count: 0, bytes }, () => undefined);
      });
    },
  };
}

/** Requests, answers, batches, acknowledgements, snapshots and reports, as one process sends them to another. */
function messageKinds(): Kind[] {
  return [
    messageKind(exchange.requestType, arbitraryRequest, {
      wrap: (request) => ({ requests: [partitionRequestToWire(request)], withdrawn: [] }),
      read: ({ requests }) => requests.map(partitionRequestFromWire),
    }),
    messageKind(exchange.responseType, arbitraryAnswer, {
      wrap: (answer) => ({ answers: [partitionAnswerToWire('r', answer)] }),
      read: ({ answers }) => answers.map(partitionAnswerFromWire),
    }),
    messageKind(deliver.requestType, arbitraryBatch, {
      wrap: (batch) => ({ batches: [messageBatchToWire(batch)] }),
      read: ({ batches }) => batches.map(messageBatchFromWire),
    }),
    messageKind(deliver.responseType, arbitraryAck, {
      wrap: (ack) => ({ acks: [messageAckToWire(ack)] }),
      read: ({ acks }) => acks.map(messageAckFromWire),
    }),
    messageKind(scan.responseType, arbitrarySnapshot, {
      wrap: (snapshot) => ({ snapshots: [snapshotToWire(snapshot)], nextAfter: undefined }),
      read: ({ snapshots }) => snapshots.map(snapshotFromWire),
    }),
    messageKind(scanJournal.responseType, arbitraryJournalSnapshot, {
      wrap: (snapshot) => ({ snapshots: [journalSnapshotToWire(snapshot)], nextAfter: undefined }),
      read: ({ snapshots }) => snapshots.map(journalSnapshotFromWire),
    }),
    messageKind(scanState.responseType, arbitraryStateSnapshot, {
      wrap: (snapshot) => ({ snapshots: [stateSnapshotToWire(snapshot)], nextAfter: undefined }),
      read: ({ snapshots }) => snapshots.map(stateSnapshotFromWire),
    }),
    messageKind(reports.responseType, arbitraryReports, {
      wrap: reportsToWire,
      read: reportsFromWire,
    }),
    messageKind(applied.responseType, arbitraryApplied, {
      wrap: appliedToWire,
      read: appliedFromWire,
    }),
  ];
}

interface Coder<Message> {
  encode(message: Message): { finish(): Uint8Array };
  decode(input: Uint8Array): Message;
}

function messageKind<Message, Value>(
  coder: Coder<Message>,
  arbitrary: fc.Arbitrary<Value>,
  ways: { readonly wrap: (value: Value) => Message; readonly read: (message: Message) => unknown },
): Kind {
  const { wrap, read } = ways;
  return {
    corpus: samplesOf(arbitrary).map((value) => coder.encode(wrap(value)).finish()),
    judge: (bytes) => {
      let message: Message;
      try {
        message = coder.decode(bytes);
      } catch {
        // What the generated decoder refuses never gets to the mapping; the RPC layer turns it into a status.
        return;
      }
      codedOnly(['storage'], () => read(message));
    },
  };
}
