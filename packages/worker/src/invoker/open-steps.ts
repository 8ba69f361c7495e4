/**
 * The last steps of an attempt that somebody must answer, so that it can say what it waits for. Bounded: a few words of each step,
 * never its payload; steps that were replayed are read only when somebody asks.
 */

import type { InvocationId, JournalEntry } from '@engine/domain';
import { decodeCommand, type HandlerCommand, type InvocationQuery } from '@engine/service-protocol';
import type { StateReader } from '@engine/storage';

/** Steps that are remembered; a handler that waits for more of them at once shows the last ones. */
export const OPEN_STEPS_KEPT_MAX = 16;

/** Replayed entries that are looked at for steps, from the end. */
const REPLAYED_ENTRIES_MAX = 256;

/** Larger ones are read at once instead of being held. */
const HELD_COMMAND_BYTES_MAX = 4 * 1024;

type JournalCommand = Extract<JournalEntry, { kind: 'command' }>;

/** A step in flight: its completion id and what it is, in words. */
export interface OpenStep {
  readonly completionId: number;
  /** For example `call Counter/k/add`. */
  readonly text: string;
}

/** What is remembered of a step: words, no bytes. */
interface KeptStep {
  readonly completionId: number;
  readonly type: HandlerCommand['type'];
  readonly name: string;
  /** A wake-up time in ms since the epoch, or whom or what the step is about. */
  readonly subject: string | number | undefined;
}

export class OpenSteps {
  readonly #kept: (JournalCommand | KeptStep)[];

  constructor(kept: (JournalCommand | KeptStep)[] = []) {
    this.#kept = kept;
  }

  /** Undefined when the journal has none. */
  static replayed(journal: readonly JournalEntry[]): OpenSteps | undefined {
    // The input alone.
    if (journal.length <= 1) return undefined;
    const end = Math.max(0, journal.length - REPLAYED_ENTRIES_MAX);
    const found: (JournalCommand | KeptStep)[] = [];
    for (let index = journal.length - 1; index >= end; index -= 1) {
      const entry = journal[index];
      if (entry?.kind !== 'command' || !isAnswered(entry.type)) continue;
      if (entry.raw.length <= HELD_COMMAND_BYTES_MAX) found.push(entry);
      else {
        const step = keptStep(decodeCommand(entry.type, entry.raw));
        if (step !== undefined) found.push(step);
      }
      if (found.length === OPEN_STEPS_KEPT_MAX) break;
    }
    return found.length === 0 ? undefined : new OpenSteps(found.reverse());
  }

  add(command: HandlerCommand): void {
    const step = keptStep(command);
    if (step === undefined) return;
    if (this.#kept.length === OPEN_STEPS_KEPT_MAX) this.#kept.shift();
    this.#kept.push(step);
  }

  /** Those that have no answer yet, the oldest first. */
  open(id: InvocationId, state: Pick<StateReader, 'notification'>): OpenStep[] {
    const open: OpenStep[] = [];
    for (const kept of this.#kept) {
      const step = 'raw' in kept ? keptStep(decodeCommand(kept.type, kept.raw)) : kept;
      if (step === undefined) continue;
      const notification = { kind: 'completion', id: step.completionId } as const;
      if (state.notification(id, notification) === undefined) open.push(inWords(step));
    }
    return open;
  }
}

/** True for commands that somebody answers. */
export function isAnswered(type: HandlerCommand['type']): boolean {
  switch (type) {
    case 'run':
    case 'sleep':
    case 'call':
    case 'get-lazy-state':
    case 'get-lazy-state-keys':
    case 'get-promise':
    case 'peek-promise':
    case 'complete-promise':
    case 'attach-invocation':
    case 'get-invocation-output':
      return true;
    default:
      return false;
  }
}

/** Undefined for commands that nobody answers. */
function keptStep(command: HandlerCommand): KeptStep | undefined {
  switch (command.type) {
    case 'call':
      return kept(command, command.resultCompletionId, calleeText(command));
    case 'run':
    case 'get-lazy-state-keys':
      return kept(command, command.completionId, undefined);
    case 'sleep':
      return kept(command, command.completionId, command.wakeUpTime);
    case 'get-lazy-state':
    case 'get-promise':
    case 'peek-promise':
    case 'complete-promise':
      return kept(command, command.completionId, command.key);
    case 'attach-invocation':
    case 'get-invocation-output':
      return kept(command, command.completionId, queryText(command.query));
    default:
      return undefined;
  }
}

function kept(
  { type, name }: HandlerCommand,
  completionId: number,
  subject: KeptStep['subject'],
): KeptStep {
  return { completionId, type, name, subject };
}

function inWords({ completionId, type, name, subject }: KeptStep): OpenStep {
  const what = `${STEP_WORDS[type] ?? type}${subjectText(subject)}`;
  const text = name === '' ? what : `${what} '${name}'`;
  return { completionId, text };
}

const STEP_WORDS: Readonly<Partial<Record<HandlerCommand['type'], string>>> = {
  sleep: 'sleep until',
  'get-lazy-state': 'state',
  'get-lazy-state-keys': 'keys of the state',
  'get-promise': 'promise',
  'peek-promise': 'promise',
  'complete-promise': 'completion of promise',
  'attach-invocation': 'result of',
  'get-invocation-output': 'result of',
};

/** Wake-up times come from handlers: not all of them are dates. */
function subjectText(subject: KeptStep['subject']): string {
  if (subject === undefined) return '';
  if (typeof subject === 'string') return ` ${subject}`;
  const date = new Date(subject);
  return ` ${Number.isNaN(date.getTime()) ? String(subject) : date.toISOString()}`;
}

function calleeText(call: Extract<HandlerCommand, { type: 'call' }>): string {
  const { service, key, handler } = call;
  return key === '' ? `${service}/${handler}` : `${service}/${key}/${handler}`;
}

function queryText(query: InvocationQuery): string {
  switch (query.kind) {
    case 'invocation':
      return query.id;
    case 'workflow':
      return `${query.service}/${query.key}`;
    case 'idempotent':
      return `${query.service}/${query.handler} with key '${query.idempotencyKey}'`;
  }
}
