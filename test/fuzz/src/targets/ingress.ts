/**
 * The ingress over real sockets: raw bytes against a listening Ingress whose partitions answer anything. Whatever is sent, the
 * process lives, each answer is whole and well-formed, sane requests are answered, and a client that hangs up leaves nothing open.
 */

import { connect, type Socket } from 'node:net';

import { loadHashes, type PartitionAnswer, type PartitionRequest } from '@engine/domain';
import { DEFAULT_INGRESS_CONFIG, Ingress } from '@engine/ingress';
import { seededRandom, systemClock, systemScheduler } from '@engine/runtime';
import { assert, concatBytes } from '@engine/stdx';
import { IRREVOCABLE, type PartitionChannel, type SentRequest } from '@engine/wire';
import { arbitraryAnswer } from '@engine/wire/contract';

import type { Chance } from '../chance.js';
import { samplesOf } from '../corpora.js';
import { splitBytes } from '../handler-frames.js';
import { mutateBytes } from '../mutate.js';
import type { FuzzCase, OpenTarget, Target } from '../target.js';
import { judgeHttp1, judgeHttp2, type Received } from './ingress-answers.js';
import { http2Connection } from './ingress-http2.js';
import { oddRequest, saneRequest } from './ingress-requests.js';
import { schemaOf } from './ingress-schema.js';

/** A connection that neither ends nor answers for so long is a finding. */
const CONNECTION_MS_MAX = 5_000;
/** Turns of the event loop until the server has seen that a connection is closed. */
const TURNS_MAX = 10_000;
const REQUEST_BYTES_MAX = 100_000;
const URI_TOO_LONG = 414;
const PREFACE = 'PRI * HTTP/2.0';

export const ingress: Target = {
  name: 'ingress',
  open: async () => {
    const channel = new AnyAnswers();
    const schema = schemaOf();
    const service = new Ingress(
      {
        ...DEFAULT_INGRESS_CONFIG,
        bindIp: '127.0.0.1',
        bindPort: 0,
        stopGraceMs: 50,
        requestBytesMax: REQUEST_BYTES_MAX,
      },
      {
        channel,
        schema: () => schema,
        hashes: await loadHashes(),
        isReady: () => true,
        clock: systemClock,
        scheduler: systemScheduler,
        random: seededRandom(1),
      },
    );
    await service.start();
    return new OpenIngress(service, channel);
  },
};

class OpenIngress implements OpenTarget {
  readonly #ingress: Ingress;
  readonly #channel: AnyAnswers;
  #escaped: unknown;
  readonly #onEscape = (error: unknown): void => {
    this.#escaped = error;
  };

  constructor(service: Ingress, channel: AnyAnswers) {
    this.#ingress = service;
    this.#channel = channel;
    process.on('uncaughtException', this.#onEscape);
    process.on('unhandledRejection', this.#onEscape);
  }

  next(chance: Chance): FuzzCase {
    const plan = planOf(chance);
    const answers = chance.list(4, () => chance.pick(this.#channel.corpus));
    const isLate = !plan.isSane && chance.yes(0.1);
    return {
      bytes: concatBytes(plan.pieces),
      run: async () => {
        this.#channel.prepare(answers, isLate);
        const received = await talk(this.#ingress.port, plan);
        this.#channel.answerLate();
        await this.#settled();
        judge(plan, received);
      },
    };
  }

  /** The server's side of the connection has ended too, and nothing escaped from it. */
  async #settled(): Promise<void> {
    for (let turn = 0; turn < 3 || this.#ingress.openCount > 0; turn += 1) {
      assert(
        turn < TURNS_MAX,
        'no request of this or an earlier input stays open when its connection is closed',
      );
      await new Promise((resolve) => setImmediate(resolve));
    }
    const escaped = this.#escaped;
    this.#escaped = undefined;
    if (escaped !== undefined) throw new Error('an error escaped', { cause: escaped });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ingress[Symbol.asyncDispose]();
    process.off('uncaughtException', this.#onEscape);
    process.off('unhandledRejection', this.#onEscape);
  }
}

/** What is said on one connection. */
interface Plan {
  readonly pieces: readonly Uint8Array[];
  /** Every request is sane: the ingress answers all and ends the connection by itself. Else the client hangs up when all is said. */
  readonly isSane: boolean;
  readonly requests: number;
}

function planOf(chance: Chance): Plan {
  const requests = chance.yes(0.7) ? 1 : chance.between(2, 4);
  if (chance.yes(0.4)) {
    const list = Array.from({ length: requests }, (_, i) =>
      saneRequest(chance, i === requests - 1),
    );
    return { pieces: splitBytes(chance, concatBytes(list)), isSane: true, requests };
  }
  const bytes = chance.yes(0.3) ? http2Connection(chance) : oddRequests(chance, requests);
  const spoilt = chance.yes(0.4) ? mutateBytes(chance, bytes) : bytes;
  return { pieces: splitBytes(chance, spoilt), isSane: false, requests };
}

function oddRequests(chance: Chance, count: number): Uint8Array {
  if (chance.yes(0.05)) return chance.bytes(chance.length(200));
  return concatBytes(
    chance.list(count, () => (chance.yes(0.3) ? saneRequest(chance, false) : oddRequest(chance))),
  );
}

function judge(plan: Plan, received: Received): void {
  const isHttp2 =
    Buffer.from(concatBytes(plan.pieces)).subarray(0, PREFACE.length).toString('latin1') ===
    PREFACE;
  if (isHttp2) {
    judgeHttp2(received);
    return;
  }
  const statuses = judgeHttp1(received);
  if (!plan.isSane) return;
  // A target that is too long ends the connection.
  const isWhole = statuses.length === plan.requests || statuses.at(-1) === URI_TOO_LONG;
  assert(isWhole, `${String(plan.requests)} sane requests, answers: ${statuses.join()}`);
}

/** Says all, then hangs up unless the server does. Resolves when the connection is closed. */
function talk(port: number, plan: Plan): Promise<Received> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const chunks: Buffer[] = [];
    let isReset = false;
    const deadline = setTimeout(() => {
      socket.destroy();
      reject(
        new Error(
          `the connection is still open: ${Buffer.concat(chunks).toString('latin1').slice(0, 300)}`,
        ),
      );
    }, CONNECTION_MS_MAX);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => (isReset = true));
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      clearTimeout(deadline);
      const all = Buffer.concat(plan.pieces).toString('latin1');
      resolve({ bytes: Buffer.concat(chunks), isReset, mayLackBodies: all.includes('HEAD ') });
    });
    socket.on('connect', () => {
      say(socket, plan);
    });
  });
}

function say(socket: Socket, { pieces, isSane }: Plan): void {
  socket.setNoDelay(true);
  for (const piece of pieces) if (piece.length > 0) socket.write(piece);
  if (!isSane) socket.end();
}

/** Partitions that answer each request with whatever comes next, at once or only when the client has gone. */
class AnyAnswers implements PartitionChannel {
  /** A partition that is moving would be asked again and again; that has its own tests. */
  readonly corpus: readonly PartitionAnswer[] = samplesOf(arbitraryAnswer).filter(
    (answer) => answer.kind !== 'unavailable' || answer.reason === 'overloaded',
  );
  #answers: readonly PartitionAnswer[] = [];
  #isLate = false;
  #count = 0;
  readonly #late: (() => void)[] = [];

  prepare(answers: readonly PartitionAnswer[], isLate: boolean): void {
    this.#answers = answers;
    this.#isLate = isLate;
    this.#count = 0;
  }

  send(_request: PartitionRequest, respond: (answer: PartitionAnswer) => void): SentRequest {
    const answer = this.#answers[this.#count % this.#answers.length] as PartitionAnswer;
    this.#count += 1;
    const give = (): void => {
      respond(answer);
    };
    if (this.#isLate) this.#late.push(give);
    else queueMicrotask(give);
    return IRREVOCABLE;
  }

  answerLate(): void {
    for (const give of this.#late.splice(0)) give();
  }
}
