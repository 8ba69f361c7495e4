/**
 * A decision in the making: reads see the writes made so far, writes collect per row (the last one wins), messages to the own
 * partition wait in line and are decided before the draft closes. A draft lives for one `decide`.
 */

import type {
  DurablePromise,
  InboxEntry,
  Invocation,
  InvocationId,
  JournalEntry,
  NotificationId,
  NotificationIndexEntry,
  ObjectLock,
  OutboxCursor,
  PartitionId,
  PartitionMessage,
  PromiseDirectory,
  StateDirectory,
  TimerKey,
} from '@engine/domain';
import { notificationKey, recipientOf } from '@engine/domain';
import type { Mutation, StateReader } from '@engine/storage';

import type { PartitionContext } from './context.js';
import type { Action, Outcome } from './outcome.js';

/** Separates the parts of composite map keys; strings may contain it, so it is escaped by length. */
function compose(...parts: readonly string[]): string {
  return parts.map((part) => `${String(part.length)}:${part}`).join('');
}

export class Draft implements StateReader {
  readonly context: PartitionContext;
  /** Time of the decision, ms since the epoch. */
  readonly at: number;
  readonly #base: StateReader;
  readonly #writes = new Map<string, Mutation>();
  readonly #actions: Action[] = [];
  readonly #local: PartitionMessage[] = [];
  #localNext = 0;

  constructor(base: StateReader, context: PartitionContext, at: number) {
    this.#base = base;
    this.context = context;
    this.at = at;
  }

  // Reads: own writes first.

  invocation(id: InvocationId): Invocation | undefined {
    const write = this.#writes.get(id);
    return write?.table === 'invocation' ? write.row : this.#base.invocation(id);
  }

  journalEntry(id: InvocationId, index: number): JournalEntry | undefined {
    const write = this.#writes.get(`${id}/${String(index)}`);
    return write?.table === 'journal' ? write.row : this.#base.journalEntry(id, index);
  }

  notification(id: InvocationId, notification: NotificationId): NotificationIndexEntry | undefined {
    const write = this.#writes.get(`${id}#${notificationKey(notification)}`);
    return write?.table === 'notification' ? write.row : this.#base.notification(id, notification);
  }

  objectLock(service: string, key: string): ObjectLock | undefined {
    const write = this.#writes.get(`lock ${compose(service, key)}`);
    return write?.table === 'object-lock' ? write.row : this.#base.objectLock(service, key);
  }

  inboxEntry(service: string, key: string, sequence: number): InboxEntry | undefined {
    const write = this.#writes.get(`inbox ${compose(service, key)}${String(sequence)}`);
    return write?.table === 'inbox' ? write.row : this.#base.inboxEntry(service, key, sequence);
  }

  state(service: string, key: string, stateKey: string): Uint8Array | undefined {
    const write = this.#writes.get(`state ${compose(service, key, stateKey)}`);
    return write?.table === 'state' ? write.row : this.#base.state(service, key, stateKey);
  }

  stateDirectory(service: string, key: string): StateDirectory | undefined {
    const write = this.#writes.get(`states ${compose(service, key)}`);
    return write?.table === 'state-directory' ? write.row : this.#base.stateDirectory(service, key);
  }

  promise(service: string, key: string, name: string): DurablePromise | undefined {
    const write = this.#writes.get(`promise ${compose(service, key, name)}`);
    return write?.table === 'promise' ? write.row : this.#base.promise(service, key, name);
  }

  promiseDirectory(service: string, key: string): PromiseDirectory | undefined {
    const write = this.#writes.get(`promises ${compose(service, key)}`);
    return write?.table === 'promise-directory'
      ? write.row
      : this.#base.promiseDirectory(service, key);
  }

  outboxMessage(destination: PartitionId, sequence: number): PartitionMessage | undefined {
    const write = this.#writes.get(`outbox ${String(destination)}/${String(sequence)}`);
    return write?.table === 'outbox' ? write.row : this.#base.outboxMessage(destination, sequence);
  }

  outboxCursor(destination: PartitionId): OutboxCursor | undefined {
    const write = this.#writes.get(`cursor ${String(destination)}`);
    return write?.table === 'outbox-cursor' ? write.row : this.#base.outboxCursor(destination);
  }

  inbound(sender: PartitionId): number | undefined {
    const write = this.#writes.get(`inbound ${String(sender)}`);
    return write?.table === 'inbound' ? write.row : this.#base.inbound(sender);
  }

  // Writes: a row puts, undefined deletes.

  putInvocation(id: InvocationId, row: Invocation | undefined): void {
    this.#writes.set(id, { table: 'invocation', id, row });
  }

  putActive(id: InvocationId, isActive: boolean): void {
    this.#writes.set(`active ${id}`, { table: 'active', id, row: isActive ? true : undefined });
  }

  putJournalEntry(id: InvocationId, index: number, row: JournalEntry | undefined): void {
    this.#writes.set(`${id}/${String(index)}`, { table: 'journal', id, index, row });
  }

  putNotification(
    id: InvocationId,
    notification: NotificationId,
    row: NotificationIndexEntry | undefined,
  ): void {
    const at = `${id}#${notificationKey(notification)}`;
    this.#writes.set(at, { table: 'notification', id, notification, row });
  }

  putObjectLock(service: string, key: string, row: ObjectLock | undefined): void {
    const at = `lock ${compose(service, key)}`;
    this.#writes.set(at, { table: 'object-lock', service, key, row });
  }

  putInboxEntry(
    place: { readonly service: string; readonly key: string; readonly sequence: number },
    row: InboxEntry | undefined,
  ): void {
    const at = `inbox ${compose(place.service, place.key)}${String(place.sequence)}`;
    this.#writes.set(at, { table: 'inbox', ...place, row });
  }

  putState(
    place: { readonly service: string; readonly key: string; readonly stateKey: string },
    row: Uint8Array | undefined,
  ): void {
    const at = `state ${compose(place.service, place.key, place.stateKey)}`;
    this.#writes.set(at, { table: 'state', ...place, row });
  }

  putStateDirectory(service: string, key: string, row: StateDirectory | undefined): void {
    const at = `states ${compose(service, key)}`;
    this.#writes.set(at, { table: 'state-directory', service, key, row });
  }

  putPromise(
    place: { readonly service: string; readonly key: string; readonly name: string },
    row: DurablePromise | undefined,
  ): void {
    const at = `promise ${compose(place.service, place.key, place.name)}`;
    this.#writes.set(at, { table: 'promise', ...place, row });
  }

  putPromiseDirectory(service: string, key: string, row: PromiseDirectory | undefined): void {
    const at = `promises ${compose(service, key)}`;
    this.#writes.set(at, { table: 'promise-directory', service, key, row });
  }

  putInbound(sender: PartitionId, row: number): void {
    this.#writes.set(`inbound ${String(sender)}`, { table: 'inbound', sender, row });
  }

  putOutboxCursor(destination: PartitionId, row: OutboxCursor): void {
    const at = `cursor ${String(destination)}`;
    this.#writes.set(at, { table: 'outbox-cursor', destination, row });
  }

  removeOutboxMessage(destination: PartitionId, sequence: number): void {
    const at = `outbox ${String(destination)}/${String(sequence)}`;
    this.#writes.set(at, { table: 'outbox', destination, sequence, row: undefined });
  }

  // Effects.

  act(action: Action): void {
    this.#actions.push(action);
  }

  /** Stores a timer and has the leader watch it. */
  setTimer(key: TimerKey, incarnation: number): void {
    this.#writes.set(timerPlace(key), { table: 'timer', key, row: { incarnation } });
    this.act({ kind: 'ScheduleTimer', key, incarnation });
  }

  /** Removes a timer that fired or is not needed any more. */
  removeTimer(key: TimerKey, hasFired: boolean): void {
    this.#writes.set(timerPlace(key), { table: 'timer', key, row: undefined });
    if (!hasFired) this.act({ kind: 'CancelTimer', key });
  }

  /** Sends a message: to the own partition within this decision, to others through the outbox. */
  send(message: PartitionMessage): void {
    const destination = this.context.partitionOf(recipientOf(message));
    if (destination === this.context.self) {
      this.#local.push(message);
      return;
    }
    const cursor = this.outboxCursor(destination) ?? { first: 0, next: 0 };
    const sequence = cursor.next;
    const at = `outbox ${String(destination)}/${String(sequence)}`;
    this.#writes.set(at, { table: 'outbox', destination, sequence, row: message });
    this.putOutboxCursor(destination, { first: cursor.first, next: sequence + 1 });
    this.act({ kind: 'SendMessage', destination, sequence, message });
  }

  /** Takes the next message to the own partition. */
  takeLocalMessage(): PartitionMessage | undefined {
    const message = this.#local[this.#localNext];
    if (message !== undefined) this.#localNext += 1;
    return message;
  }

  close(): Outcome {
    return { mutations: [...this.#writes.values()], actions: this.#actions };
  }
}

function timerPlace(key: TimerKey): string {
  return `timer ${String(key.dueAt)} ${key.kind} ${key.invocationId} ${String(key.index)}`;
}
