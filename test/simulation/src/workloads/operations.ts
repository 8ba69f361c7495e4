/** What callers do. Each operation knows what must come of it and says so when something else does. */

import type { Result } from '@engine/domain';
import { parseAwakeableId } from '@engine/domain';
import { assert } from '@engine/stdx';

import { decodeJson, encodeJson, type Callee, type Json } from '../deployment/handler-context.js';
import type { Chance } from '../simulator/chance.js';
import { resultText, type Client } from './client.js';
import { CONTROL_OPERATIONS } from './control-operations.js';
import type { Lab } from './lab.js';
import { BIG_TEXT_LENGTH } from './scripted-service.js';
import type { Tally } from './tally.js';

export interface OperationContext {
  readonly client: Client;
  readonly chance: Chance;
  readonly lab: Lab;
  readonly tally: Tally;
  /** Unique in the run. */
  readonly tag: string;
}

type Operation = (context: OperationContext) => Promise<void>;

/** Longer than a run: whoever sleeps so long and is forgotten shows at the end. */
const FOR_EVER_MS = 30 * 24 * 3_600_000;

const KEYS = ['ant', 'bee', 'cat', 'dog', 'elk', 'fox', 'gnu', ''] as const;

export const OPERATIONS = {
  ...CONTROL_OPERATIONS,
  echo: ({ client, tag }) => {
    return client.expect({ service: 'Echo', handler: 'echo' }, tag, (value) => value === tag);
  },
  big: async ({ client }) => {
    const isWhole = (value: Json): boolean => String(value).length === BIG_TEXT_LENGTH;
    await client.expect({ service: 'Echo', handler: 'big' }, null, isWhole);
  },
  steps: ({ client, chance }) => {
    const count = chance.between(1, 6);
    return client.expect({ service: 'Steps', handler: 'run' }, { count }, (value) =>
      equal(
        value,
        Array.from({ length: count }, (_, step) => step),
      ),
    );
  },
  nap: ({ client, chance }) => {
    const naps = Array.from({ length: chance.between(1, 3) }, () => chance.below(4_000));
    const callee = { service: 'Sleeper', handler: 'nap' };
    return client.expect(callee, { naps }, (value) => value === naps.length);
  },
  count: ({ client, chance, tally }) => {
    const key = chance.pick(KEYS);
    const service = chance.pick(['Counter', 'LazyCounter']);
    return count(
      { client, tally, service, key },
      { sleepMs: chance.pick([0, 0, 5, 700]), steps: chance.below(2) },
    );
  },
  logBurst: async ({ client, chance, tally, tag }) => {
    const key = chance.pick(KEYS);
    const length = chance.between(2, 6);
    tally.expectLines(key, tag, length);
    for (let sequence = 0; sequence < length; sequence += 1) {
      const callee = { service: 'Log', handler: 'append', key };
      await client.send(callee, { from: tag, sequence, notBefore: 0 });
    }
  },
  fan: async ({ client, chance, tally, tag }) => {
    const key = chance.pick(KEYS);
    const length = chance.between(2, 9);
    tally.expectLines(key, tag, length);
    const input = { key, from: tag, count: length };
    await client.expect({ service: 'Fan', handler: 'out' }, input, () => true);
  },
  fanLater: async ({ client, chance, tally, tag }) => {
    const key = chance.pick(KEYS);
    tally.expectLines(key, tag, 1);
    const input = { key, from: tag, delayMs: chance.between(1, 5_000) };
    await client.expect({ service: 'Fan', handler: 'later' }, input, () => true);
  },
  delayedSend: async ({ client, chance, tally, tag, lab }) => {
    const key = chance.pick(KEYS);
    const delayMs = chance.between(1, 5_000);
    tally.expectLines(key, tag, 1);
    const callee = { service: 'Log', handler: 'append', key, idempotencyKey: tag };
    const notBefore = tally.now() + delayMs;
    const id = await client.send(callee, { from: tag, sequence: 0, notBefore }, delayMs);
    const answer = await client.attach(id);
    lab.expect(answer.kind === 'result', () => `attach to ${id} was answered with ${answer.kind}`);
  },
  chain: ({ client, chance }) => {
    const keys = chain(chance);
    const [key = '', ...rest] = keys;
    const callee = { service: 'Chain', handler: 'link', key };
    return client.expect(callee, { keys: rest }, (value) => value === rest.length);
  },
  awakeable: async ({ client, lab, tag }) => {
    const waiting = client.expect(
      { service: 'Awaiter', handler: 'wait' },
      { tag },
      (value) => value === `answer to ${tag}`,
    );
    const parsed = parseAwakeableId(await lab.mail(tag));
    assert(parsed.kind === 'ok', 'a handler publishes a good awakeable id');
    const { invocationId, signalIndex } = parsed.id;
    const value = encodeJson(`answer to ${tag}`);
    await client.signal(
      invocationId,
      { kind: 'signal', index: signalIndex },
      { kind: 'value', value },
    );
    await waiting;
  },
  awakeableByHandler: async ({ client, lab, tag }) => {
    const waiting = client.expect(
      { service: 'Awaiter', handler: 'wait' },
      { tag },
      (value) => value === 7,
    );
    const id = await lab.mail(tag);
    await client.expect({ service: 'Awaiter', handler: 'resolve' }, { id, value: 7 }, () => true);
    await waiting;
  },
  words: async ({ client, chance, lab, tag }) => {
    const words = Array.from(
      { length: chance.between(1, 5) },
      (_, index) => `${tag} ${String(index)}`,
    );
    const listening = client.expect(
      { service: 'Awaiter', handler: 'listen' },
      { tag, count: words.length },
      (value) => equal(value, words),
    );
    const target = await lab.mail(tag);
    await client.expect({ service: 'Awaiter', handler: 'speak' }, { target, words }, () => true);
    await listening;
  },
  select: ({ client, chance }) => {
    const callee = { service: 'Awaiter', handler: 'select' };
    return client.expect(callee, { ms: chance.below(3_000) }, (value) => value === 'quick');
  },
  once: async ({ client, chance, lab, tag }) => {
    const callee = { service: 'Steps', handler: 'once', idempotencyKey: tag };
    const input = { tag, sleepMs: chance.below(500) };
    const ends = await Promise.all([
      client.call(callee, input),
      client.call(callee, input),
      client.send(callee, input).then((id) => client.call(callee, input, id)),
    ]);
    const texts = new Set(ends.map(({ result }) => resultText(result)));
    lab.expect(
      texts.size === 1,
      () => `idempotent calls of ${tag} ended differently: ${[...texts].join()}`,
    );
    const executions = lab.executionsOf(tag);
    lab.expect(executions.size === 1, () => `${tag} ran as ${[...executions].join(' and ')}`);
  },
  workflow: async ({ client, chance, lab, tag }) => {
    const run = { service: 'Flow', handler: 'run', key: tag };
    const approve = { service: 'Flow', handler: 'approve', key: tag };
    const running = client.expect(run, { ms: chance.below(300) }, (value) =>
      equal(value, { go: 'yes', stage: 'gone' }),
    );
    if (chance.happens(0.5))
      await client.expect({ ...approve, handler: 'peek' }, null, isOneOf(null, 'yes'));
    await client.expect(approve, { value: 'yes' }, isOneOf('approved', 'late'));
    await client.expect(approve, { value: 'no' }, (value) => value === 'late');
    await running;
    const second = await client.call(run, { ms: 0 });
    lab.expect(
      isFailure(second.result, 409),
      () => `${tag} ran twice: ${resultText(second.result)}`,
    );
    const answer = await client.output(client.idFor(run));
    lab.expect(answer.kind === 'result', () => `the output of ${tag} is ${answer.kind}`);
  },
  attach: async ({ client, chance, tag }) => {
    const callee = { service: 'Steps', handler: 'once', idempotencyKey: tag };
    const id = await client.send(callee, { tag, sleepMs: chance.below(1_000) });
    const handler = { service: 'Awaiter', handler: 'attach' };
    await client.expect(handler, { id }, (value) => value === id);
    await client.expect({ ...handler, handler: 'output' }, { id }, (value) => value === id);
  },
  /** Who looks at a call while it runs is told once that it has ended, and from then on always. */
  looks: async ({ client, chance, lab, tally, tag }) => {
    const callee = { service: 'Steps', handler: 'once', idempotencyKey: tag };
    const id = client.idFor(callee);
    const ending = client.call(callee, { tag, sleepMs: chance.below(3_000) }, id);
    let hasEnded = false;
    for (let left = 6; left > 0; left -= 1) {
      await tally.sleep(chance.delay(300, 6_000));
      const isOver = tally.isOver(ending);
      const answer = await client.output(id);
      hasEnded ||= isOver;
      lab.expect(
        answer.kind === 'result' || !hasEnded,
        () => `${id} had ended, and who looked was told ${answer.kind}`,
      );
      hasEnded ||= answer.kind === 'result';
    }
    await ending;
  },
  tidy: ({ client, chance, tag }) => {
    const callee = { service: 'Keeper', handler: 'tidy', key: chance.pick(KEYS) };
    const hasAll = (value: Json): boolean => {
      const { big, keys, left, a } = value as Readonly<Record<string, Json>>;
      const isRight = big === BIG_TEXT_LENGTH && left === tag && a === null;
      return isRight && ['a', 'b'].every((key) => (keys as readonly string[]).includes(key));
    };
    return client.expect(callee, { tag, sleepMs: chance.below(300) }, hasAll);
  },
  terminal: async ({ client, lab, tag }) => {
    const { result } = await client.call(
      { service: 'Fails', handler: 'terminal' },
      { code: 418, message: tag },
    );
    lab.expect(
      isFailure(result, 418) && result.failure.message === tag,
      () => `a terminal failure came as ${resultText(result)}`,
    );
  },
  rescued: ({ client, tag }) => {
    const input = { code: 444, message: tag };
    return client.expect({ service: 'Fails', handler: 'rescued' }, input, (value) =>
      equal(value, input),
    );
  },
  flaky: ({ client, chance, tag }) => {
    const input = { tag, failures: chance.below(4) };
    return client.expect(
      { service: 'Fails', handler: 'flaky' },
      input,
      (value) => value === 'at last',
    );
  },
  throwing: ({ client, chance, tag }) => {
    const input = { tag, failures: chance.below(4) };
    return client.expect({ service: 'Fails', handler: 'throwing' }, input, (value) => value === 1);
  },
  failing: async ({ client, lab, tag }) => {
    const { result } = await client.call({ service: 'Fails', handler: 'failing' }, { tag });
    lab.expect(
      result.kind === 'success' || result.failure.message === 'gives up',
      () => `giving up ended with ${resultText(result)}`,
    );
  },
  single: ({ client, tag }) => {
    return client.expect({ service: 'Steps', handler: 'single' }, { tag }, (value) => value === 1);
  },
  brief: async ({ client, chance, tag }) => {
    const callee = { service: 'Brief', handler: 'nap', idempotencyKey: tag };
    const input = { tag, ms: chance.below(200) };
    const isSlept = (value: Json): boolean => value === 'slept';
    const calls = [0, 1, 2].map(async (round) => {
      for (let left = round; left >= 0; left -= 1) await client.expect(callee, input, isSlept);
    });
    const caller = { service: 'BriefCaller', handler: 'call' };
    await client.expect(caller, input, (value) => equal(value, ['slept', 'slept', 'slept']));
    await Promise.all(calls);
  },
  cancelPaused: (context) => terminate(context, 'cancel', { service: 'Fails', handler: 'pausing' }),
  killPaused: (context) => terminate(context, 'kill', { service: 'Fails', handler: 'pausing' }),
  cancelNap: (context) => terminate(context, 'cancel', { service: 'Sleeper', handler: 'patient' }),
  cancelDelegate: (context) =>
    terminate(context, 'cancel', { service: 'Sleeper', handler: 'delegate' }),
  cancelHolder: (context) => terminate(context, 'cancel', holder(context, 'hold')),
  killNap: (context) => terminate(context, 'kill', { service: 'Sleeper', handler: 'patient' }),
  killDelegate: (context) =>
    terminate(context, 'kill', { service: 'Sleeper', handler: 'delegate' }),
  killHolder: (context) => terminate(context, 'kill', holder(context, 'call')),
  hold: async (context) => {
    const { client, chance } = context;
    await client.expect(
      holder(context, 'hold'),
      { ms: chance.below(500) },
      (value) => value === 'held',
    );
  },
} satisfies Readonly<Record<string, Operation>>;

export type OperationName = keyof typeof OPERATIONS;

async function count(
  where: {
    readonly client: Client;
    readonly tally: Tally;
    readonly service: string;
    readonly key: string;
  },
  input: Json,
): Promise<void> {
  const { client, tally, service, key } = where;
  tally.adding(service, key);
  const { id, result } = await client.call({ service, handler: 'add', key }, input);
  if (result.kind === 'failure') tally.lab.violation(`${id} failed with ${resultText(result)}`);
  else tally.added(service, key, Number((decodeJson(result.value) as { after: number }).after));
}

/** Calls something that takes for ever and ends it from outside, sooner or later. */
async function terminate(
  { client, chance, lab, tally, tag }: OperationContext,
  kind: 'cancel' | 'kill',
  callee: Callee,
): Promise<void> {
  const id = client.idFor(callee);
  const ending = client.call(callee, { ms: FOR_EVER_MS, tag }, id);
  // Longer and longer: each cancellation is news for a handler, and one that hangs times out only when there is none.
  for (let patienceMs = 2_000; ; patienceMs = Math.min(patienceMs * 2, 30_000)) {
    await tally.sleep(chance.below(patienceMs));
    if (chance.happens(0.2)) await client.operate('pause', id);
    const outcome = await client.operate(kind, id);
    if (tally.isOver(ending)) break;
    // Not found: the call is still on its way. A cancellation that came before a pause does not end the pause: ask again.
    if (outcome !== 'not-found' && callee.handler !== 'pausing') break;
  }
  const { result } = await ending;
  lab.expect(
    isFailure(result, 409),
    () => `${id} should end by ${kind}, not with ${resultText(result)}`,
  );
}

function holder({ chance }: OperationContext, handler: string): Callee {
  return { service: 'Holder', handler, key: chance.pick(KEYS.slice(0, 3)) };
}

/** Distinct keys in a fixed order: links that wait for each other crosswise would wait for ever. */
function chain(chance: Chance): string[] {
  return KEYS.filter(() => chance.happens(0.5));
}

function isOneOf(...values: readonly Json[]): (value: Json) => boolean {
  return (value) => values.includes(value);
}

function isFailure(result: Result, code: number): result is Extract<Result, { kind: 'failure' }> {
  return result.kind === 'failure' && result.failure.code === code;
}

function equal(a: Json, b: Json): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
