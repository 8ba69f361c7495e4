/**
 * Durable before visible: whatever leaves the process (answers, messages, acknowledgements, frames to handlers) is compared with
 * what the disk could not lose at that moment.
 */

import {
  requireInvocationId,
  shardOfInvocation,
  toPartitionId,
  type DeploymentChoice,
  type Invocation,
  type InvocationId,
  type JournalEntry,
  type NotificationId,
  type PartitionAnswer,
  type PartitionId,
  type PartitionRequest,
  type Result,
} from '@engine/domain';
import type { PartitionState } from '@engine/storage';
import type { MessageAck, MessageBatch } from '@engine/wire';

import { CODE, type SdkFrame } from '../deployment/frames.js';
import { ProtoMessage } from '../deployment/proto.js';
import type { ExchangeFacts } from '../deployment/sim-exchange.js';
import type { RowsView } from '../simulator/rows-view.js';
import type { Lab } from '../workloads/lab.js';

/** Results that are kept for less may be gone by the end of the record that answers with them. */
const RETENTION_MS_MIN = 5_000;

export class DurabilityChecker {
  readonly #view: RowsView;
  readonly #lab: Lab;
  readonly #partitionCount: number;
  /** Entries of the replay that are still to come, and the place of the next one, per connection. */
  readonly #replays = new Map<number, { left: number; next: number }>();
  readonly #seeds = new Map<string, bigint>();
  /** The result that each request was answered with. */
  readonly #results = new Map<string, Result>();
  readonly #purged = new Set<InvocationId>();

  constructor(dependencies: {
    readonly view: RowsView;
    readonly lab: Lab;
    readonly partitionCount: number;
  }) {
    this.#view = dependencies.view;
    this.#lab = dependencies.lab;
    this.#partitionCount = dependencies.partitionCount;
  }

  answered(request: PartitionRequest, answer: PartitionAnswer): void {
    if (request.kind === 'replace-state') return;
    const id = request.kind === 'invoke' ? request.invocation.id : request.invocationId;
    const row = this.#stateOf(id).invocation(id);
    const tell = (text: string): void => {
      this.#lab.violation(`durable before visible: ${request.kind} of ${id} was answered: ${text}`);
    };
    switch (answer.kind) {
      case 'submitted':
        if (row === undefined) tell('submitted, and the disk does not know it');
        return;
      case 'result':
        if (!this.#purged.has(id)) this.#expectOneResult(request.requestId, answer.result, tell);
        if (row === undefined) tell('with a result, and the disk does not know it');
        else if (isRefusedRepeat(answer.result) || this.#isReused(id, row)) return;
        else if (row.status !== 'completed') tell(`with a result, and on disk it is ${row.status}`);
        else if (!this.#isStoredResult(id, answer.result))
          tell('with a result that is not on disk');
        return;
      case 'operation':
        if (answer.outcome === 'appended' && row === undefined) tell('appended to nothing');
        if (answer.outcome === 'done') this.#done(request, row, tell);
        return;
      case 'not-found':
      case 'not-ready':
      case 'unavailable':
        return;
    }
  }

  /** Somebody asks for something: what is purged may be used again in the record that answers for its first use. */
  asked(request: PartitionRequest): void {
    if (request.kind === 'purge') this.#purged.add(request.invocationId);
  }

  #done(
    request: PartitionRequest,
    row: Invocation | undefined,
    tell: (text: string) => void,
  ): void {
    switch (request.kind) {
      case 'kill':
        if (row?.status !== 'completed') tell('killed, and on disk it lives');
        return;
      case 'pause':
        if (row?.status === 'invoked' || row?.status === 'suspended') tell('paused, and it is not');
        return;
      case 'resume':
        if (row?.status === 'paused') tell('resumed, and on disk it is paused');
        this.#expectPin(request.deployment, row, tell);
        return;
      case 'restart-as-new': {
        const id = request.newInvocationId;
        if (this.#stateOf(id).invocation(id) === undefined) tell('restarted, and nothing is there');
        return;
      }
      case 'purge':
        if (row?.status === 'completed' && row.purgedAt === undefined)
          tell('purged, and it is not');
        return;
      case 'purge-journal':
        if (row?.status === 'completed' && row.journalLength > 0) tell('a journal is still there');
        return;
      case 'cancel':
      case 'signal':
      case 'attach':
      case 'invoke':
      case 'replace-state':
        return;
    }
  }

  #expectPin(
    choice: DeploymentChoice,
    row: Invocation | undefined,
    tell: (text: string) => void,
  ): void {
    if (choice.kind !== 'fixed' || row === undefined) return;
    if (row.pin?.deploymentId !== choice.deploymentId) tell('resumed elsewhere than was asked for');
  }

  /** Nothing completes twice: a request that was sent again gets the answer that it got before. */
  #expectOneResult(requestId: string, result: Result, tell: (text: string) => void): void {
    const before = this.#results.get(requestId) ?? result;
    this.#results.set(requestId, before);
    if (!isSame(before, result)) tell('twice, and differently');
  }

  delivered(batch: MessageBatch): void {
    const { sender, destination, first, messages } = batch;
    const cursor = this.#view.state(sender).outboxCursor(destination);
    const last = first + messages.length - 1;
    this.#lab.expect(
      cursor !== undefined && last < cursor.next,
      () =>
        `durable before visible: message ${String(last)} from ${String(sender)} to ${String(destination)} was sent`,
    );
  }

  acknowledged(ack: MessageAck): void {
    const applied = this.#view.state(ack.destination).inbound(ack.sender) ?? -1;
    this.#lab.expect(
      ack.upTo <= applied,
      () =>
        `durable before visible: message ${String(ack.upTo)} from ${String(ack.sender)} was acknowledged, the disk has ${String(applied)}`,
    );
  }

  written(facts: ExchangeFacts, frame: SdkFrame): void {
    const id = requireInvocationId(facts.invocationId);
    const state = this.#stateOf(id);
    const replay = this.#replays.get(facts.number);
    if (replay === undefined) {
      this.#started(facts, id, frame);
    } else if (replay.left > 0) {
      replay.left -= 1;
      this.#replayed(id, replay.next, frame);
      replay.next += 1;
    } else this.#pushed(state, id, frame);
  }

  #started(facts: ExchangeFacts, id: InvocationId, frame: SdkFrame): void {
    const start = new ProtoMessage(frame.payload);
    const knownEntries = start.number(3);
    this.#replays.set(facts.number, { left: knownEntries, next: 0 });
    const seed = start.uint(9);
    const known = this.#seeds.get(id) ?? seed;
    this.#seeds.set(id, known);
    this.#lab.expect(seed === known, () => `${id} got another random seed`);
    const row = this.#stateOf(id).invocation(id);
    this.#lab.expect(
      row !== undefined && knownEntries <= row.journalLength,
      () =>
        `durable before visible: ${id} started with ${String(knownEntries)} entries, the disk has ${String(row?.journalLength)}`,
    );
  }

  #replayed(id: InvocationId, index: number, frame: SdkFrame): void {
    const entry = this.#stateOf(id).journalEntry(id, index);
    this.#lab.expect(
      entry !== undefined && isReplayOf(frame, entry),
      () => `${id}: entry ${String(index)} is not replayed as it is on disk`,
    );
  }

  #pushed(state: PartitionState, id: InvocationId, frame: SdkFrame): void {
    const notification = idOfPushed(frame);
    if (notification === undefined) return;
    this.#lab.expect(
      state.notification(id, notification) !== undefined,
      () => `durable before visible: ${id} was told of ${JSON.stringify(notification)}`,
    );
  }

  #isStoredResult(id: InvocationId, result: Result): boolean {
    const state = this.#stateOf(id);
    const stored = state.invocation(id)?.result;
    if (stored?.kind === 'failure')
      return isSame({ kind: 'failure', failure: stored.failure }, result);
    const entry = stored === undefined ? undefined : state.journalEntry(id, stored.index);
    return entry?.kind === 'output' && isSame(entry.result, result);
  }

  /** The same record may hold the end of an invocation and the next use of its id, when its result is hardly kept, or purged. */
  #isReused(id: InvocationId, row: Invocation): boolean {
    const isBrief =
      row.idempotencyKey !== undefined && row.completionRetentionMs < RETENTION_MS_MIN;
    return isBrief || this.#purged.has(id);
  }

  #stateOf(id: InvocationId): PartitionState {
    return this.#view.state(this.#partitionOf(id));
  }

  #partitionOf(id: InvocationId): PartitionId {
    return toPartitionId(shardOfInvocation(id, this.#partitionCount));
  }
}

function isRefusedRepeat(result: Result): boolean {
  return result.kind === 'failure' && result.failure.message.includes('already invoked');
}

function isSame(a: Result, b: Result): boolean {
  if (a.kind === 'failure' || b.kind === 'failure') {
    return (
      a.kind === 'failure' &&
      b.kind === 'failure' &&
      a.failure.code === b.failure.code &&
      a.failure.message === b.failure.message
    );
  }
  return Buffer.compare(a.value, b.value) === 0;
}

function isReplayOf(frame: SdkFrame, entry: JournalEntry): boolean {
  switch (entry.kind) {
    case 'input':
      return frame.type === CODE.input;
    case 'output':
      return frame.type === CODE.output;
    case 'notification':
      return frame.type >= 0x8000;
    case 'command':
      return Buffer.compare(frame.payload, entry.raw) === 0;
  }
}

/** The notification that a frame after the replay tells of. */
function idOfPushed(frame: SdkFrame): NotificationId | undefined {
  const message = new ProtoMessage(frame.payload);
  if (frame.type === CODE.proposeRunCompletionAck)
    return { kind: 'completion', id: message.number(1) };
  if (frame.type < 0x8000) return undefined;
  if (message.has(1)) return { kind: 'completion', id: message.number(1) };
  if (message.has(2)) return { kind: 'signal', index: message.number(2) };
  return { kind: 'named-signal', name: message.text(3) };
}
