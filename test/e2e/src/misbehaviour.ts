/** The ways in which a deployment can answer wrongly, by the name of the handler that does it, and what has to come of each. */

import {
  bytes,
  CODE,
  deepTree,
  END,
  frame,
  message,
  output,
  packed,
  propose,
  run,
  sleep,
  suspension,
  uint,
  value,
} from './frames.js';
import type { Answer } from './hostile-deployment.js';

export type Outcome =
  | { readonly failure: string }
  | { readonly paused: string }
  | { readonly result: unknown }
  | { readonly status: string };

export interface Case {
  readonly answer: Answer;
  readonly expected: Outcome;
}

const U64_MAX = 2n ** 64n - 1n;
const UNKNOWN_INVOCATION = 'inv_1cUZqQKbZFRY445IdJcjCuDQNB6xmSuT9k';

/** The answer is these frames, then nothing more. */
export function says(...frames: readonly Buffer[]): Answer {
  return (attempt) => {
    attempt.say(...frames).close();
  };
}

function refuses(status: number, headers?: Readonly<Record<string, string>>): Answer {
  return (attempt) => {
    attempt.refuse(status, headers);
  };
}

const violation: Outcome = { failure: 'RT0012' };
export const fine: Outcome = { result: 'fine' };
export const FINE = [output('fine'), END];

export const HEADS: Readonly<Record<string, Case>> = {
  contentTypeMissing: {
    answer: ({ stream }) => {
      stream.respond({ ':status': 200 });
    },
    expected: violation,
  },
  contentTypeOther: { answer: refuses(200, { 'content-type': 'text/html' }), expected: violation },
  contentTypeWithParameter: {
    answer: ({ stream, contentType }) => {
      stream.respond({ ':status': 200, 'content-type': `${contentType}; charset=utf-8` });
    },
    expected: violation,
  },
  contentTypeOfAnotherVersion: {
    answer: refuses(200, { 'content-type': 'application/vnd.restate.invocation.v6' }),
    expected: violation,
  },
  redirect: { answer: refuses(307, { location: '/elsewhere' }), expected: violation },
  badRequest: { answer: refuses(400), expected: violation },
  unauthorised: { answer: refuses(401), expected: violation },
  notFound: { answer: refuses(404), expected: violation },
  tooLarge: { answer: refuses(413), expected: { failure: 'RT0019' } },
  versionRefused: { answer: refuses(415), expected: { failure: 'RT0015' } },
  rateLimited: { answer: refuses(429), expected: { failure: 'RT0023' } },
  rateLimitedFor: {
    answer: refuses(429, { 'retry-after': '3600' }),
    expected: { failure: 'RT0023' },
  },
  rateLimitedForever: {
    answer: refuses(429, { 'retry-after': '99999999999999999999' }),
    expected: { failure: 'RT0023' },
  },
  rateLimitedInVain: {
    answer: refuses(429, { 'retry-after': 'soon; -1' }),
    expected: { failure: 'RT0023' },
  },
  unexpected: { answer: refuses(500), expected: violation },
  badGateway: { answer: refuses(502), expected: { failure: 'RT0010' } },
  unavailable: { answer: refuses(503), expected: { failure: 'RT0023' } },
  gatewayTimeout: { answer: refuses(504), expected: { failure: 'RT0010' } },
  refusedWithEndlessBody: {
    answer: ({ stream }) => {
      stream.respond({ ':status': 500 });
      const flood = (): void => {
        while (stream.writable && stream.write(Buffer.alloc(16_384)));
      };
      stream.on('drain', flood);
      flood();
    },
    expected: violation,
  },
  hugeHeader: {
    answer: (attempt) => {
      const part = 'x'.repeat(8_000);
      const headers = Array.from({ length: 20 }, (_, index) => [`x-${String(index)}`, part]);
      attempt.accept(Object.fromEntries(headers) as Record<string, string>);
    },
    expected: { failure: 'RT0010' },
  },
};

export const ENDS: Readonly<Record<string, Case>> = {
  nothing: { answer: says(), expected: { failure: 'RT0007' } },
  commandThenNothing: { answer: says(run(1)), expected: { failure: 'RT0007' } },
  outputThenNothing: { answer: says(output('fine')), expected: { failure: 'RT0007' } },
  tornHeader: { answer: says(END.subarray(0, 5)), expected: { failure: 'RT0007' } },
  tornPayload: { answer: says(output('fine').subarray(0, 12)), expected: { failure: 'RT0007' } },
  endAtOnce: { answer: says(END), expected: violation },
  endWithoutOutput: { answer: says(run(1), propose(1), END), expected: violation },
  endTwice: { answer: says(...FINE, END), expected: fine },
  endThenError: { answer: says(...FINE, message(CODE.error, uint(1, 500))), expected: fine },
  endThenGarbage: { answer: says(...FINE, Buffer.from('garbage after the end')), expected: fine },
  endThenCommands: { answer: says(...FINE, run(1), output('late')), expected: fine },
  errorThenEnd: {
    answer: says(message(CODE.error, uint(1, 500)), ...FINE),
    expected: { failure: 'RT0007' },
  },
  endWithoutClose: { answer: (attempt) => attempt.say(...FINE), expected: fine },
  endWithPayload: {
    answer: says(output('fine'), frame(CODE.end, Buffer.alloc(9))),
    expected: fine,
  },
  outputTwice: { answer: says(output('first'), ...FINE), expected: fine },
};

export const FRAMES: Readonly<Record<string, Case>> = {
  unknownCommand: { answer: says(message(0x0450)), expected: violation },
  unknownControl: { answer: says(message(0x0200)), expected: violation },
  customCommand: { answer: says(message(0xfc01)), expected: violation },
  lastCode: { answer: says(message(0xffff)), expected: violation },
  start: { answer: says(message(CODE.start)), expected: violation },
  commandAck: { answer: says(message(CODE.commandAck, uint(1, 0))), expected: violation },
  runCompletionAck: {
    answer: says(message(CODE.proposeRunCompletionAck, uint(1, 1))),
    expected: violation,
  },
  inputCommand: { answer: says(message(CODE.input, value(14, '1'))), expected: violation },
  completion: {
    answer: says(sleep(U64_MAX, 1), message(CODE.sleepCompletion, uint(1, 1), bytes(4, ''))),
    expected: violation,
  },
  runCompletion: {
    answer: says(run(1), message(CODE.runCompletion, uint(1, 1), value(5, '1'))),
    expected: violation,
  },
  signal: { answer: says(message(CODE.signal, uint(2, 1), bytes(4, ''))), expected: violation },
  undecodable: {
    answer: says(frame(CODE.sleep, Buffer.alloc(12, 0xff)), ...FINE),
    expected: violation,
  },
  undecodableOutput: {
    answer: says(frame(CODE.output, Buffer.from([0x72, 0x7f]))),
    expected: violation,
  },
  undecodableError: {
    answer: says(frame(CODE.error, Buffer.from([0x12, 0x7f]))),
    expected: violation,
  },
  undecodableText: {
    answer: says(message(CODE.setState, bytes(1, Buffer.from([0xc3, 0x28])), value(3, '1'))),
    expected: violation,
  },
  oversized: {
    answer: (attempt) =>
      attempt.say(frame(CODE.output, Buffer.alloc(0), { claimedBytes: 0xffff_ffff })),
    expected: { failure: 'RT0003' },
  },
  justOversized: {
    answer: (attempt) =>
      attempt.say(frame(0x0450, Buffer.alloc(0), { claimedBytes: 32 * 2 ** 20 + 256 * 2 ** 10 })),
    expected: { failure: 'RT0003' },
  },
  reservedFlags: {
    answer: says(frame(CODE.output, value(14, '"fine"'), { flags: 0x7fff }), END),
    expected: fine,
  },
  garbage: {
    answer: says(Buffer.from('HTTP/1.1 200 OK\r\n\r\n')),
    expected: { failure: 'RT0003' },
  },
};

export const COMMANDS: Readonly<Record<string, Case>> = {
  outputWithoutResult: { answer: says(message(CODE.output), END), expected: violation },
  proposalWithoutRun: { answer: says(propose(77), ...FINE), expected: fine },
  proposalWithoutResult: {
    answer: says(run(1), message(CODE.proposeRunCompletion, uint(1, 1))),
    expected: violation,
  },
  proposalTwice: {
    answer: says(run(1), propose(1, 'a'), propose(1, 'b'), ...FINE),
    expected: fine,
  },
  completionIdTwice: { answer: says(run(1), run(1), sleep(1, 1), ...FINE), expected: fine },
  sleepsForever: { answer: says(sleep(U64_MAX, 1), ...FINE), expected: fine },
  sendsInTheFarFuture: {
    answer: says(
      message(
        CODE.oneWayCall,
        bytes(1, 'Story'),
        bytes(2, 'greet'),
        bytes(3, '"late"'),
        uint(4, U64_MAX),
        uint(10, 1),
      ),
      ...FINE,
    ),
    expected: fine,
  },
  callsUnknown: {
    answer: says(message(CODE.call, bytes(1, 'No'), bytes(2, 'no'), uint(10, 1), uint(11, 2))),
    expected: { failure: 'RT0018' },
  },
  callsWithKey: {
    answer: says(
      message(
        CODE.call,
        bytes(1, 'Story'),
        bytes(2, 'greet'),
        bytes(5, 'key'),
        uint(10, 1),
        uint(11, 2),
      ),
    ),
    expected: { failure: 'RT0017' },
  },
  stateOfService: {
    answer: says(message(CODE.setState, bytes(1, 'k'), value(3, '1'))),
    expected: { failure: 'RT0017' },
  },
  promiseOfService: {
    answer: says(message(CODE.getPromise, bytes(1, 'p'), uint(11, 1))),
    expected: { failure: 'RT0017' },
  },
  badAwakeable: {
    answer: says(message(CODE.completeAwakeable, bytes(1, 'sign_1x'), value(2, '1'))),
    expected: violation,
  },
  badSignalTarget: {
    answer: says(message(CODE.sendSignal, bytes(1, 'inv_1x'), uint(2, 1), bytes(4, ''))),
    expected: violation,
  },
  signalToUnknown: {
    answer: says(
      message(CODE.sendSignal, bytes(1, UNKNOWN_INVOCATION), uint(2, 1), bytes(4, '')),
      ...FINE,
    ),
    expected: fine,
  },
  badAttach: {
    answer: says(message(CODE.attachInvocation, bytes(1, 'inv_1x'), uint(11, 1))),
    expected: { failure: 'RT0017' },
  },
  errorWithFarRetry: {
    answer: says(message(CODE.error, uint(1, 500), bytes(2, 'later'), uint(8, U64_MAX))),
    expected: { failure: 'RT0007' },
  },
  errorWithHugeText: {
    answer: says(message(CODE.error, uint(1, 4_000_000), bytes(2, '€'.repeat(2 ** 20)))),
    expected: { failure: 'RT0007' },
  },
  errorWithUnknownBehavior: {
    answer: says(message(CODE.error, uint(1, 500), uint(9, 99))),
    expected: { failure: 'RT0007' },
  },
  errorPauses: {
    answer: says(message(CODE.error, uint(1, 500), uint(9, 1))),
    expected: { paused: 'RT0007' },
  },
  errorFails: {
    answer: says(message(CODE.error, uint(1, 507), bytes(2, 'over'), uint(9, 2))),
    expected: { status: 'completed' },
  },
  flood: {
    answer: says(...Array.from({ length: 20_000 }, (_, index) => run(index + 1)), ...FINE),
    expected: fine,
  },
};

export const SUSPENSIONS: Readonly<Record<string, Case>> = {
  suspendsOnNothing: { answer: says(message(CODE.suspension)), expected: violation },
  suspendsOnEmptyTree: {
    answer: says(message(CODE.suspension, bytes(4, ''))),
    expected: violation,
  },
  suspendsOnEmptyNode: {
    answer: says(message(CODE.suspension, bytes(4, Buffer.concat([packed(1, [1]), bytes(4, '')])))),
    expected: violation,
  },
  suspendsInOldWords: {
    answer: says(message(CODE.suspension, packed(1, [1]))),
    expected: violation,
  },
  suspendsOnUnknown: { answer: says(suspension([55])), expected: { status: 'suspended' } },
  suspendsOnUnknownCombinator: {
    answer: says(
      message(CODE.suspension, bytes(4, Buffer.concat([packed(1, [55]), uint(5, 200)]))),
    ),
    expected: { status: 'suspended' },
  },
  suspendsOnDeepTree: {
    answer: says(message(CODE.suspension, deepTree(4, 1_000))),
    expected: { status: 'suspended' },
  },
  suspendsOnTooDeepTree: {
    answer: says(message(CODE.suspension, deepTree(4, 1_001))),
    expected: { paused: 'RT0025' },
  },
  suspendsOnBottomlessTree: {
    answer: says(message(CODE.suspension, deepTree(4, 20_000))),
    expected: { paused: 'RT0025' },
  },
  awaitsTooDeepTree: {
    answer: says(message(CODE.awaitingOn, deepTree(1, 1_001)), ...FINE),
    expected: { paused: 'RT0025' },
  },
};

export const OLD_VERSION: Readonly<Record<string, Case>> = {
  suspendsOnNothing: { answer: says(message(CODE.suspension)), expected: violation },
  suspendsOnUnknown: {
    answer: says(message(CODE.suspension, packed(1, [55]), packed(2, [1]))),
    expected: { status: 'suspended' },
  },
  awaitingOn: {
    answer: says(message(CODE.awaitingOn, deepTree(1, 1)), ...FINE),
    expected: violation,
  },
};

export const TIMES: Readonly<Record<string, Case>> = {
  neverAnswers: { answer: () => undefined, expected: { failure: 'RT0001' } },
  headOnly: {
    answer: (attempt) => attempt.accept(),
    expected: { failure: 'RT0001' },
  },
  stopsInFrame: {
    answer: (attempt) => attempt.say(output('fine').subarray(0, 11)),
    expected: { failure: 'RT0001' },
  },
  /** Slower than anybody likes, but never silent for as long as the timeouts say. */
  slowLoris: {
    answer: (attempt) => {
      attempt.accept();
      const drops = [...Buffer.concat(FINE)].map((byte) => Buffer.from([byte]));
      const timer = setInterval(() => {
        const drop = drops.shift();
        if (drop !== undefined) attempt.stream.write(drop);
        else {
          clearInterval(timer);
          attempt.close();
        }
      }, 40);
    },
    expected: fine,
  },
};
