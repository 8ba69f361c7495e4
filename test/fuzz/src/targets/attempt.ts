/** The attempt machine: any input in any state and order, every version, both modes. What comes out must obey its own contract. */

import { Attempt, type AttemptInput, type AttemptOutput, type AttemptStart } from '@engine/attempt';
import {
  ERROR_CODES,
  limits,
  randomSeedOf,
  type Invocation,
  type JournalEntry,
} from '@engine/domain';
import { encodeFrames, FrameDecoder, invocationContentType } from '@engine/service-protocol';
import { assert, concatBytes } from '@engine/stdx';
import {
  arbitraryInvocation,
  arbitraryInvocationId,
  arbitraryJournalEntry,
} from '@engine/wire/contract';

import type { Chance } from '../chance.js';
import { samplesOf } from '../corpora.js';
import { handlerFrame, splitBytes } from '../handler-frames.js';
import { mutateBytes } from '../mutate.js';
import { openTarget, type Target } from '../target.js';

type EntryOf<Kind extends JournalEntry['kind']> = Extract<JournalEntry, { kind: Kind }>;

interface Corpora {
  readonly entries: readonly JournalEntry[];
  readonly inputs: readonly EntryOf<'input'>[];
  readonly notifications: readonly EntryOf<'notification'>[];
  readonly invocations: readonly Invocation[];
  readonly ids: readonly AttemptStart['invocationId'][];
}

const DOCUMENTED: readonly (string | undefined)[] = [...ERROR_CODES, undefined];
const TERMINALS = new Set(['suspended', 'ended', 'failed']);
const RETRY_AFTER_MS_MAX = 366 * 24 * 3_600_000;

export const attempt: Target = {
  name: 'attempt',
  open: () => {
    const corpora = readCorpora();
    return openTarget((chance) => {
      const start = startOf(chance, corpora);
      const inputs = inputsOf(chance, start, corpora);
      const bytes = concatBytes(
        inputs.map((input) => (input.kind === 'response-data' ? input.chunk : new Uint8Array(0))),
      );
      return {
        bytes,
        run: () => {
          drive(start, inputs);
        },
      };
    });
  },
};

function readCorpora(): Corpora {
  const entries = samplesOf(arbitraryJournalEntry);
  const ofKind = <Kind extends JournalEntry['kind']>(kind: Kind): EntryOf<Kind>[] =>
    entries.filter((entry): entry is EntryOf<Kind> => entry.kind === kind);
  return {
    entries,
    inputs: ofKind('input'),
    notifications: ofKind('notification'),
    invocations: samplesOf(arbitraryInvocation, 50),
    ids: samplesOf(arbitraryInvocationId, 50),
  };
}

function startOf(chance: Chance, corpora: Corpora): AttemptStart {
  const invocationId = chance.pick(corpora.ids);
  const size = chance.length(20);
  return {
    invocationId,
    target: chance.pick(corpora.invocations).target,
    protocolVersion: chance.between(5, 7),
    mode: chance.pick(['bidi', 'request-response']),
    journal: [
      chance.pick(corpora.inputs),
      ...chance.list(size, () => chance.pick(corpora.entries)),
    ],
    state: {
      entries: chance.list(chance.length(5), () => [chance.text(5), chance.bytes(9)] as const),
      complete: chance.yes(),
    },
    randomSeed: randomSeedOf(invocationId),
    retryCountSinceLastCommand: chance.number(),
    durationSinceLastEntryMs: chance.number(),
    messageSizeBytesMax: chance.yes(0.9) ? limits.MESSAGE_SIZE_BYTES_MAX : chance.below(64),
  };
}

function inputsOf(chance: Chance, start: AttemptStart, corpora: Corpora): AttemptInput[] {
  const inputs: AttemptInput[] = [];
  // Most sequences begin as a sane transport would, so that the body counts.
  if (chance.yes(0.85)) inputs.push(goodHead(start));
  const count = chance.between(1, 12);
  while (inputs.length < count) inputs.push(...moreInputs(chance, start, corpora));
  return inputs;
}

function goodHead(start: AttemptStart): AttemptInput {
  const contentType = invocationContentType(start.protocolVersion);
  return { kind: 'response-head', status: 200, contentType, retryAfter: undefined, now: 0 };
}

function moreInputs(chance: Chance, start: AttemptStart, corpora: Corpora): AttemptInput[] {
  switch (chance.below(16)) {
    case 0:
      return [badHead(chance, start)];
    case 1:
      return [{ kind: chance.pick(['response-end', 'inactivity-timeout', 'abort-timeout']) }];
    case 2:
      return [{ kind: 'transport-error', message: chance.text(chance.length(30)) }];
    case 3:
    case 4:
    case 5: {
      const entry = chance.pick(corpora.notifications);
      return [{ kind: 'notification-stored', index: chance.number(), entry }];
    }
    case 6:
      return [{ kind: 'command-stored', commandIndex: chance.number() }];
    case 7: {
      const { retry } = chance.pick(corpora.invocations);
      return retry === undefined ? [] : [{ kind: 'command-refused', failure: retry.failure }];
    }
    default: {
      const frames = encodeFrames(chance.list(chance.between(1, 4), () => handlerFrame(chance)));
      const bytes = chance.yes(0.2) ? mutateBytes(chance, frames) : frames;
      return splitBytes(chance, bytes).map((chunk) => ({ kind: 'response-data', chunk }));
    }
  }
}

function badHead(chance: Chance, start: AttemptStart): AttemptInput {
  const good = invocationContentType(start.protocolVersion);
  const dates = ['Wed, 21 Oct 2026 07:28:00 GMT', '99 Foo 2026 99:99 Z', '1 Jan 9999 00:00 UT'];
  return {
    kind: 'response-head',
    status: chance.yes(0.7) ? chance.pick([413, 415, 429, 500, 502, 503, 504]) : chance.number(),
    contentType: chance.pick([good, good.replace('.v', '.v1'), undefined, chance.text(9)]),
    retryAfter: chance.pick([undefined, '0', '9'.repeat(400), ...dates, chance.text(9)]),
    now: chance.number(),
  };
}

function drive(start: AttemptStart, inputs: readonly AttemptInput[]): void {
  const machine = new Attempt(start);
  const judge = new Judge(start);
  judge.see(machine.begin(), machine);
  for (const input of inputs) judge.see(machine.step(input), machine);
  assert(judge.isWhole, 'what is written to the handler ends with a frame');
}

/** Holds the outputs of one attempt against the contract in `AttemptOutput`. */
class Judge {
  readonly #written = new FrameDecoder(2 ** 32);
  #commands: number;
  #isOver = false;
  #isClosed = false;

  constructor({ journal }: AttemptStart) {
    this.#commands = journal.filter((entry) => entry.kind !== 'notification').length;
  }

  get isWhole(): boolean {
    return this.#written.bufferedBytes === 0;
  }

  see(outputs: readonly AttemptOutput[], machine: Attempt): void {
    for (const output of outputs) this.#seeOne(output);
    assert(machine.isFinished === this.#isOver, 'an attempt is finished by its terminal output');
    assert(!this.#isOver || this.#isClosed, 'the request of a finished attempt is closed');
  }

  #seeOne(output: AttemptOutput): void {
    assert(!this.#isOver || output.kind === 'close-request', 'after the end only silence follows');
    if (TERMINALS.has(output.kind)) this.#isOver = true;
    switch (output.kind) {
      case 'write':
        assert(!this.#isClosed, 'nothing is written behind the end of the request');
        this.#written.push(output.bytes);
        while (this.#written.next() !== undefined) continue;
        return;
      case 'close-request':
        assert(!this.#isClosed, 'the request ends once');
        this.#isClosed = true;
        return;
      case 'command':
        assert(output.commandIndex === this.#commands, 'commands are numbered without a gap');
        this.#commands += 1;
        return;
      case 'failed':
        assert(
          DOCUMENTED.includes(output.failure.docCode) || output.retryDelayMs === undefined,
          'a failure has a documented code',
        );
        if (output.retryDelayMs !== undefined) {
          assert(output.retryDelayMs >= 0, 'a wait is not negative');
          assert(
            output.behavior !== 'retry' ||
              output.failure.docCode !== 'RT0023' ||
              output.retryDelayMs <= RETRY_AFTER_MS_MAX,
            'a header asks for a year at most',
          );
        }
        return;
      default:
        return;
    }
  }
}
