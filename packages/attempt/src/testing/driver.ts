/** An attempt under test, and what is fed to it. */

import {
  limits,
  randomSeedOf,
  requireInvocationId,
  VOID,
  type CommandType,
  type JournalEntry,
  type NotificationId,
  type NotificationResult,
  type NotificationType,
} from '@engine/domain';
import { invocationContentType } from '@engine/service-protocol';
import { encodeUtf8, fromHex, toHex } from '@engine/stdx';
import { Attempt } from '../attempt.js';
import type { AttemptInput, AttemptOutput, AttemptStart } from '../attempt-io.js';

type Entry = JournalEntry;
type NotificationEntry = Extract<Entry, { kind: 'notification' }>;

const CALLER = requireInvocationId('inv_1cUZqQKbZFRY445IdJcjCuDQNB6xmSuT9k');
export const CALLEE = 'inv_1eVo5PdoISlm4YLYoWJNkRrJSgKcCJKfSh';

export const INPUT: Entry = {
  kind: 'input',
  headers: [],
  payload: encodeUtf8('"ada"'),
  appendedAt: 0,
};
export const OUTPUT: Entry = {
  kind: 'output',
  name: '',
  result: { kind: 'success', value: encodeUtf8('1') },
  appendedAt: 0,
};

export function commandEntry(type: CommandType, raw: string): Entry {
  return { kind: 'command', type, name: '', raw: fromHex(raw), appendedAt: 0 };
}

export function notified(
  type: NotificationType,
  id: number | NotificationId,
  result: NotificationResult = VOID,
): NotificationEntry {
  const key = typeof id === 'number' ? ({ kind: 'completion', id } as const) : id;
  return { kind: 'notification', type, id: key, result, appendedAt: 0 };
}

export const valueOf = (text: string): NotificationResult => ({
  kind: 'value',
  value: encodeUtf8(text),
});

function startWith(more: Partial<AttemptStart> = {}): AttemptStart {
  return {
    invocationId: CALLER,
    target: { kind: 'service', service: 'Greeter', key: undefined, handler: 'demo' },
    protocolVersion: 6,
    mode: 'bidi',
    journal: [INPUT],
    state: { entries: [], complete: false },
    randomSeed: randomSeedOf(CALLER),
    retryCountSinceLastCommand: 0,
    durationSinceLastEntryMs: 1,
    messageSizeBytesMax: limits.MESSAGE_SIZE_BYTES_MAX,
    ...more,
  };
}

/** Drives an attempt and writes down, one line each, what it does. */
export class Driver {
  readonly attempt: Attempt;
  readonly log: string[] = [];
  readonly outputs: AttemptOutput[] = [];
  readonly #version: number;

  constructor(more: Partial<AttemptStart> = {}) {
    const start = startWith(more);
    this.#version = start.protocolVersion;
    this.attempt = new Attempt(start);
    this.#note(this.attempt.begin());
  }

  feed(input: AttemptInput): this {
    this.#note(this.attempt.step(input));
    return this;
  }

  head(status = 200, more: { contentType?: string | undefined; retryAfter?: string } = {}): this {
    const contentType = invocationContentType(this.#version);
    const now = Date.UTC(2026, 0, 1);
    return this.feed({
      kind: 'response-head',
      status,
      contentType,
      retryAfter: undefined,
      now,
      ...more,
    });
  }

  /** Frames as `type|payload` or `type+|payload` with the ack flag, in one chunk. */
  data(...frames: string[]): this {
    const bytes = frames.map((frame) => {
      const [type = '', payload = ''] = frame.split('|');
      const flags = type.endsWith('+') ? '8000' : '0000';
      const length = (payload.length / 2).toString(16).padStart(8, '0');
      return type.slice(0, 4) + flags + length + payload;
    });
    return this.feed({ kind: 'response-data', chunk: fromHex(bytes.join('')) });
  }

  stored(index: number, entry: NotificationEntry): this {
    return this.feed({ kind: 'notification-stored', index, entry });
  }

  /** What was written down since the last time. */
  seen(): string[] {
    return this.log.splice(0);
  }

  last(): AttemptOutput | undefined {
    return this.outputs.findLast((output) => output.kind !== 'close-request');
  }

  #note(outputs: readonly AttemptOutput[]): void {
    for (const output of outputs) {
      this.outputs.push(output);
      this.log.push(lineOf(output));
    }
  }
}

function lineOf(output: AttemptOutput): string {
  switch (output.kind) {
    case 'write':
      return `write ${frameTexts(output.bytes).join(' ')}`;
    case 'close-request':
      return 'close';
    case 'command':
      return `command ${output.commandIndex.toString()} ${output.command.type}${output.ackRequested ? ' ack' : ''}`;
    case 'run-completion':
      return `run-completion ${output.completionId.toString()} ${output.result.kind}`;
    case 'awaiting':
      return `awaiting ${output.awaitingOn.kind}`;
    case 'suspended':
      return `suspended ${output.awaitingOn.kind} knowing ${output.knownEntries.toString()}`;
    case 'ended':
      return 'ended';
    case 'failed':
      return `failed ${output.failure.docCode ?? '-'} ${output.failure.code.toString()} ${output.behavior} ${output.retryDelayMs?.toString() ?? '-'} ${output.reachedHandler ? 'reached' : 'unreached'}`;
  }
}

/** The frames of a write; the start only by its type. */
function frameTexts(bytes: Uint8Array): string[] {
  const texts: string[] = [];
  for (let rest = toHex(bytes); rest.length > 0;) {
    const end = 16 + 2 * parseInt(rest.slice(8, 16), 16);
    const type = rest.slice(0, 4);
    texts.push(type === '0000' ? 'start' : `${type}|${rest.slice(16, end)}`);
    rest = rest.slice(end);
  }
  return texts;
}

export const INPUT_FRAME = '0400|72070a0522616461' + '22';
export const RUN = '0411|58016203726e64';
export const PROPOSAL = '|080172023432';
export const SLEEP = '040c|08e98ff4d49f345802';
export const CALL = '040d|0a0747726565746572120567726565741a0522626f622250035804';
export const RESULT = '0401|721a0a187b2272223a34322c2267223a2248656c6c6f20626f62227d';
export const END = '0003|';
