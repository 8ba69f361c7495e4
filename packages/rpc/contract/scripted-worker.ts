/** A worker that does what a test says: it keeps what it is asked until the test answers. */

import type { InvocationId, PartitionAnswer, PartitionRequest } from '@engine/domain';

import type {
  InvocationScan,
  InvocationSnapshot,
  JournalScan,
  JournalScanOptions,
  JournalSnapshot,
  MessageAck,
  MessageBatch,
  PartitionChannel,
  PartitionPeer,
  ScanOptions,
  SentRequest,
  StateScan,
  StateScanOptions,
  StateSnapshot,
} from '@engine/wire';

import { ScriptedNode } from './scripted-node.js';

export interface AskedRequest {
  readonly request: PartitionRequest;
  readonly respond: (answer: PartitionAnswer) => void;
  isWithdrawn: boolean;
}

export class ScriptedWorker
  implements PartitionChannel, PartitionPeer, InvocationScan, JournalScan, StateScan
{
  readonly control = new ScriptedNode();
  readonly asked: AskedRequest[] = [];
  readonly batches: MessageBatch[] = [];
  readonly acks: MessageAck[] = [];
  /** Answers at once; undefined = the test does. */
  answer: (request: PartitionRequest) => PartitionAnswer | undefined = () => undefined;
  invocations: readonly InvocationSnapshot[] = [];
  journals: readonly JournalSnapshot[] = [];
  state: readonly StateSnapshot[] = [];
  /** Thrown by every scan at the row with this index. */
  failure: { readonly at: number; readonly error: Error } | undefined;
  /** Rows read so far by all scans. */
  readCount = 0;

  send(request: PartitionRequest, respond: (answer: PartitionAnswer) => void): SentRequest {
    const entry: AskedRequest = {
      request,
      respond: (answer) => {
        if (!entry.isWithdrawn) respond(answer);
      },
      isWithdrawn: false,
    };
    for (const older of this.asked) {
      if (older.request.requestId === request.requestId) older.isWithdrawn = true;
    }
    this.asked.push(entry);
    const answer = this.answer(request);
    if (answer !== undefined) {
      queueMicrotask(() => {
        entry.respond(answer);
      });
    }
    return {
      withdraw: () => {
        entry.isWithdrawn = true;
      },
    };
  }

  deliver(batch: MessageBatch): void {
    this.batches.push(batch);
  }

  acknowledge(ack: MessageAck): void {
    this.acks.push(ack);
  }

  async *scan({ ids, after, limit }: ScanOptions): AsyncGenerator<InvocationSnapshot> {
    const byId = new Map(this.invocations.map((row) => [row.id, row]));
    const rows = ids?.flatMap((id) => byId.get(id) ?? []) ?? this.invocations;
    yield* this.#page(rows, { limit, isAfter: after === undefined ? undefined : isId(after) });
  }

  async *scanJournal({ after, limit }: JournalScanOptions): AsyncGenerator<JournalSnapshot> {
    const isAfter = (row: JournalSnapshot): boolean =>
      row.id === after?.id && row.index === after.index;
    yield* this.#page(this.journals, { limit, isAfter: after === undefined ? undefined : isAfter });
  }

  async *scanState({ after, limit }: StateScanOptions): AsyncGenerator<StateSnapshot> {
    const isAfter = (row: StateSnapshot): boolean =>
      row.service === after?.service && row.key === after.key && row.stateKey === after.stateKey;
    yield* this.#page(this.state, { limit, isAfter: after === undefined ? undefined : isAfter });
  }

  async *#page<Row>(
    rows: readonly Row[],
    {
      limit,
      isAfter,
    }: { readonly limit: number; readonly isAfter: ((row: Row) => boolean) | undefined },
  ): AsyncGenerator<Row> {
    await Promise.resolve();
    const from = isAfter === undefined ? 0 : rows.findIndex(isAfter) + 1;
    for (const [offset, row] of rows.slice(from, from + limit).entries()) {
      if (this.failure?.at === from + offset) throw this.failure.error;
      this.readCount += 1;
      yield row;
    }
  }
}

function isId(id: InvocationId): (row: InvocationSnapshot) => boolean {
  return (row) => row.id === id;
}
