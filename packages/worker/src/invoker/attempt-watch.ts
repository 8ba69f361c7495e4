/** What an attempt in flight was last heard to say, so that people can see what it waits for and since when. */

import type { AwaitTree, InvocationId, JournalEntry, NotificationId } from '@engine/domain';
import type { HandlerCommand } from '@engine/service-protocol';
import type { StateReader } from '@engine/storage';

import { awaitedText, openStepsText } from './awaited.js';
import { isAnswered, OpenSteps } from './open-steps.js';

/** What is waited for, in words, and since when (ms since the epoch), as far as that is known. */
export interface Awaited {
  readonly on: string;
  readonly since: number | undefined;
}

export class AttemptWatch {
  readonly #id: InvocationId;
  /** Only of attempts with steps that somebody must answer. */
  #steps: OpenSteps | undefined;
  #server: string | undefined;
  #awaitingOn: AwaitTree | undefined;
  #awaitingSince: number | undefined;
  #lastHeardAt: number | undefined;

  constructor(id: InvocationId) {
    this.#id = id;
  }

  /** What the deployment said of itself in the response head. */
  get server(): string | undefined {
    return this.#server;
  }

  /** What the handler last said that it awaits. */
  get awaitingOn(): AwaitTree | undefined {
    return this.#awaitingOn;
  }

  /** When the deployment last sent anything, ms since the epoch. */
  get lastHeardAt(): number | undefined {
    return this.#lastHeardAt;
  }

  /** The response began. `now`: ms since the epoch. */
  answered(server: string | undefined, now: number): void {
    this.#server = server;
    this.#lastHeardAt = now;
  }

  /** `now`: ms since the epoch. */
  heard(now: number): void {
    this.#lastHeardAt = now;
  }

  /** Call it once, before the first `commandReceived`. */
  replayed(journal: readonly JournalEntry[]): void {
    this.#steps = OpenSteps.replayed(journal);
  }

  commandReceived(command: HandlerCommand): void {
    if (!isAnswered(command.type)) return;
    this.#steps ??= new OpenSteps();
    this.#steps.add(command);
  }

  /** Handlers repeat what they await at each turn: it counts from the first time on. */
  awaits(tree: AwaitTree, now: number): void {
    const isSame = this.#awaitingOn !== undefined && isSameTree(this.#awaitingOn, tree);
    if (!isSame) this.#awaitingSince = now;
    this.#awaitingOn = tree;
  }

  /** As the handler says, else its steps without an answer, else itself. `startedAt`: of the attempt, ms since the epoch. */
  awaited(state: Pick<StateReader, 'notification'>, startedAt: number | undefined): Awaited {
    const steps = this.#steps?.open(this.#id, state) ?? [];
    if (this.#awaitingOn !== undefined) {
      return { on: awaitedText(this.#id, this.#awaitingOn, steps), since: this.#awaitingSince };
    }
    const since = this.#lastHeardAt ?? startedAt;
    if (steps.length > 0) return { on: openStepsText(steps), since };
    return { on: this.#lastHeardAt === undefined ? 'the deployment' : 'the handler', since };
  }
}

function isSameTree(a: AwaitTree, b: AwaitTree): boolean {
  if (a.kind === 'single') return b.kind === 'single' && isSameId(a.id, b.id);
  if (b.kind === 'single' || a.kind !== b.kind || a.children.length !== b.children.length) {
    return false;
  }
  const others = b.children;
  return a.children.every((child, index) => {
    const other = others[index];
    return other !== undefined && isSameTree(child, other);
  });
}

function isSameId(a: NotificationId, b: NotificationId): boolean {
  switch (a.kind) {
    case 'completion':
      return b.kind === 'completion' && a.id === b.id;
    case 'signal':
      return b.kind === 'signal' && a.index === b.index;
    case 'named-signal':
      return b.kind === 'named-signal' && a.name === b.name;
  }
}
