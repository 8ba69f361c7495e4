/** What operators do to the work of others: pause and resume it, restart it, purge it, replace the state under it. */

import { createHash } from 'node:crypto';

import type {
  DeploymentChoice,
  DeploymentId,
  InvocationId,
  OperationOutcome,
} from '@engine/domain';

import { decodeJson, encodeJson, type Callee, type Json } from '../deployment/handler-context.js';
import type { Chance } from '../simulator/chance.js';
import { resultText } from './client.js';
import type { OperationContext } from './operations.js';
import { BIG_TEXT_LENGTH } from './scripted-service.js';

/** Longer than a pause that was sent again is on its way. */
const DOUBT_MS = 70_000;

const KEEP: DeploymentChoice = { kind: 'keep' };

/** Nobody registers it. */
const NOWHERE = 'dp_111yNZYbf9Urc4I11R3vhi9' as DeploymentId;

export const CONTROL_OPERATIONS = {
  /** Whatever is paused and resumed ends as if it had not been. */
  pauses: async (context: OperationContext) => {
    const { client, chance, lab, tag } = context;
    const { callee, input, expected } = chance.pick([stepsWork, napWork, flakyWork])(chance, tag);
    const id = client.idFor(callee);
    const ending = client.call(callee, input, id);
    await pauseNowAndThen(context, { callee, id, ending });
    const { result } = await ending;
    lab.expect(
      result.kind === 'success' && isSame(decodeJson(result.value), expected),
      () => `${id} was paused and ended with ${resultText(result)}`,
    );
  },
  /** A holder that is paused keeps its key, and its addition counts once. */
  pausesCount: async (context: OperationContext) => {
    const { client, chance, lab, tally } = context;
    const key = chance.pick(['ant', 'bee', 'cat']);
    const callee = { service: 'Counter', handler: 'add', key };
    tally.adding('Counter', key);
    const id = client.idFor(callee);
    const ending = client.call(callee, { sleepMs: chance.below(900), steps: 1 }, id);
    await pauseNowAndThen(context, { callee, id, ending });
    const { result } = await ending;
    if (result.kind === 'failure') lab.violation(`${id} failed with ${resultText(result)}`);
    else tally.added('Counter', key, afterOf(decodeJson(result.value)));
  },
  /** Steps that are taken over do not run again, all others do. */
  again: async (context: OperationContext) => {
    const { client, chance, lab, tag } = context;
    const count = chance.between(1, 5);
    const callee = { service: 'Again', handler: 'steps', idempotencyKey: tag };
    const { id, result } = await client.call(callee, { tag, count });
    const before = result.kind === 'success' ? (decodeJson(result.value) as readonly number[]) : [];
    lab.expect(before.length === count, () => `${id} ended with ${resultText(result)}`);
    // Input, then each step and its outcome, then the output.
    const copyUpTo = chance.below(2 * count + 4);
    const next = await restart(context, { callee, id, copyUpTo });
    if (next === undefined) return;
    lab.expect(copyUpTo < 2 * count + 2, () => `${id} was copied beyond its end`);
    const answer = await client.attach(next);
    if (answer.kind !== 'result' || answer.result.kind === 'failure') {
      lab.violation(`${next} ended with ${answer.kind}`);
      return;
    }
    const after = decodeJson(answer.result.value) as readonly number[];
    const kept = Math.ceil(copyUpTo / 2);
    lab.expect(
      after.every((value, step) => isRight({ value, before: before[step] ?? 0, step, kept })),
      () =>
        `${next}: ${after.join(' ')} after ${before.join(' ')} with ${String(copyUpTo)} entries`,
    );
  },
  /** A restarted addition counts once more, and once only. */
  againCount: async (context: OperationContext) => {
    const { client, chance, lab, tally, tag } = context;
    const key = chance.pick(['ant', 'bee', 'cat']);
    const callee = { service: 'Counter', handler: 'add', key, idempotencyKey: tag };
    tally.adding('Counter', key);
    const { id, result } = await client.call(callee, { sleepMs: 0, steps: chance.below(2) });
    if (result.kind === 'failure') lab.violation(`${id} failed with ${resultText(result)}`);
    else tally.added('Counter', key, afterOf(decodeJson(result.value)));
    const next = await restart(context, { callee, id, copyUpTo: 0 });
    if (next === undefined) return;
    tally.adding('Counter', key);
    const answer = await client.attach(next);
    if (answer.kind !== 'result' || answer.result.kind === 'failure') {
      lab.violation(`${next} ended with ${answer.kind}`);
    } else tally.added('Counter', key, afterOf(decodeJson(answer.result.value)));
  },
  /** For worlds in which nothing fails but answers: a request that is repeated restarts once. */
  againSingle: async (context: OperationContext) => {
    const { client, lab, tag } = context;
    const callee = { service: 'Again', handler: 'count', idempotencyKey: tag };
    const { id } = await client.call(callee, { tag });
    const next = await restart(context, { callee, id, copyUpTo: 0 });
    if (next !== undefined) await client.attach(next);
    const runs = lab.try(tag) - 1;
    const expected = next === undefined ? 1 : 2;
    lab.expect(runs === expected, () => `${tag} ran ${String(runs)} times`);
  },
  /** What is purged is gone at once, and its key runs again. */
  forget: async ({ client, chance, lab, tally, tag }: OperationContext) => {
    const callee = { service: 'Again', handler: 'count', idempotencyKey: tag };
    const id = client.idFor(callee);
    const first = client.call(callee, { tag });
    await tally.sleep(chance.below(50));
    lab.expect(
      ['not-found', 'not-completed', 'done'].includes(await client.operate('purge-journal', id)),
      () => `the journal of ${id} was purged before its time`,
    );
    const before = valueOf((await first).result);
    if (chance.happens(0.5)) {
      const outcome = await client.operate('purge-journal', id);
      lab.expect(outcome === 'done', () => `the journal of ${id} was not purged: ${outcome}`);
      const restarted = await client.restart(id, KEEP, 0);
      lab.expect(
        restarted.outcome === 'journal-missing',
        () => `${id} was restarted without a journal: ${restarted.outcome}`,
      );
    }
    const same = valueOf((await client.call(callee, { tag })).result);
    lab.expect(same === before, () => `${id} forgot ${String(before)} and says ${String(same)}`);
    const outcome = await client.operate('purge', id);
    // A repeated request finds that the first one did it.
    lab.expect(isOneOf(outcome, 'done', 'not-found'), () => `${id} was not purged: ${outcome}`);
    const answer = await client.output(id);
    lab.expect(answer.kind === 'not-found', () => `${id} is purged and ${answer.kind}`);
    const after = valueOf((await client.call(callee, { tag })).result);
    lab.expect(after > before, () => `${id} did not run again: ${String(after)}`);
  },
  /** State and promises of a workflow go with its run. */
  forgetFlow: async ({ client, chance, lab, tag }: OperationContext) => {
    const run = { service: 'Flow', handler: 'run', key: tag };
    const approve = { ...run, handler: 'approve' };
    const id = client.idFor(run);
    for (const word of ['yes', 'again']) {
      const running = client.expect(run, { ms: chance.below(300) }, (value) =>
        isSame(value, { go: word, stage: 'gone' }),
      );
      await client.expect(approve, { value: word }, (value) => value !== null);
      await running;
      const outcome = await client.operate('purge', id);
      lab.expect(isOneOf(outcome, 'done', 'not-found'), () => `${id} was not purged: ${outcome}`);
      await client.expect({ ...run, handler: 'peek' }, null, (value) => value === null);
    }
  },
  /** New states take their turns among the handlers of the key. */
  slate: async ({ client, chance, lab, tag }: OperationContext) => {
    const key = tag;
    let state: State = new Map();
    const length = chance.between(2, 8);
    for (let mark = 0; mark < length; mark += 1) {
      if (chance.happens(0.5)) {
        const sleepMs = chance.pick([0, 0, 50, 600]);
        await client.send({ service: 'Slate', handler: 'mark', key }, { mark, sleepMs });
        const marks = (state.get('marks') ?? []) as readonly Json[];
        state = new Map([...state, ['marks', [...marks, mark]]]);
        continue;
      }
      const next = chance.pick([emptyState, markedState, largeState])(mark);
      const version = chance.pick([undefined, versionOf(state), versionOf(next)]);
      const outcome = await client.replaceState({ service: 'Slate', key }, next, version);
      lab.expect(isOneOf(outcome, 'done', 'appended'), () => `a state was ${outcome}`);
      if (version === undefined || version === versionOf(state)) state = next;
    }
    const expected = Object.fromEntries(
      [...state]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, value]) => [name, typeof value === 'string' ? value.length : value]),
    );
    const look = { service: 'Slate', handler: 'look', key };
    await client.expect(look, null, (value) => isSame(value, expected));
  },
} satisfies Readonly<Record<string, (context: OperationContext) => Promise<void>>>;

/** Operations for worlds in which nothing runs twice. */
export const CALM_OPERATIONS: ReadonlySet<string> = new Set(['single', 'againSingle']);

interface Work {
  readonly callee: Callee;
  readonly input: Json;
  readonly expected: Json;
}

function stepsWork(chance: Chance): Work {
  const count = chance.between(2, 8);
  const expected = Array.from({ length: count }, (_, step) => step);
  return { callee: { service: 'Steps', handler: 'run' }, input: { count }, expected };
}

function napWork(chance: Chance): Work {
  const naps = Array.from({ length: chance.between(1, 3) }, () => chance.below(4_000));
  return { callee: { service: 'Sleeper', handler: 'nap' }, input: { naps }, expected: naps.length };
}

function flakyWork(chance: Chance, tag: string): Work {
  const input = { tag, failures: chance.between(1, 5) };
  return { callee: { service: 'Fails', handler: 'flaky' }, input, expected: 'at last' };
}

async function pauseNowAndThen(
  context: OperationContext,
  work: {
    readonly callee: Callee;
    readonly id: InvocationId;
    readonly ending: Promise<unknown>;
  },
): Promise<void> {
  const { client, chance, lab, tally } = context;
  const { id, ending } = work;
  let isDoubtful = false;
  for (let pauses = chance.between(1, 4); pauses > 0 && !tally.isOver(ending); pauses -= 1) {
    await tally.sleep(chance.below(chance.pick([5, 50, 1_500])));
    const outcome = await client.operate('pause', id);
    // Not found: the call is on its way, or its end is not kept. Not running: it waits for its turn, or has ended.
    lab.expect(
      isOneOf(outcome, 'done', 'unchanged', 'not-found', 'not-running'),
      () => `the pause of ${id} was ${outcome}`,
    );
    if (!isOneOf(outcome, 'done', 'unchanged')) {
      isDoubtful = true;
      continue;
    }
    lab.hold(id);
    await tally.sleep(chance.below(chance.pick([5, 2_000])));
    lab.release(id);
    await resume(context, work);
  }
  // A pause that was sent twice may have come too early, and then in time: its first answer says nothing of that.
  while (isDoubtful && !tally.isOver(ending)) {
    await tally.sleep(DOUBT_MS);
    await client.resume(id, KEEP);
  }
}

async function resume(
  { client, chance, lab }: OperationContext,
  { callee, id }: { readonly callee: Callee; readonly id: InvocationId },
): Promise<void> {
  const choice = chooseDeployment({ client, chance }, callee.service);
  const outcome = await client.resume(id, choice);
  // The first request may have done it, and its answer got lost: then it runs, or has ended.
  if (isOneOf(outcome, 'done', 'already-completed', 'not-found')) return;
  lab.expect(
    choice.kind !== 'keep' && isRefusedDeployment(outcome),
    () => `the resume of ${id} (${choice.kind}) was ${outcome}`,
  );
  const kept = await client.resume(id, KEEP);
  lab.expect(
    isOneOf(kept, 'done', 'already-completed', 'not-found'),
    () => `the resume of ${id} was ${kept}`,
  );
}

/** The id of the new invocation; undefined when nothing is there to be restarted. */
async function restart(
  { client, chance, lab }: OperationContext,
  of: { readonly callee: Callee; readonly id: InvocationId; readonly copyUpTo: number },
): Promise<InvocationId | undefined> {
  const { callee, id, copyUpTo } = of;
  const choice = chooseDeployment({ client, chance }, callee.service);
  const first = await client.restart(id, choice, copyUpTo);
  if (first.outcome === 'done') return first.id;
  // The journal may be kept for no time.
  if (first.outcome === 'journal-missing') return undefined;
  // Beyond the end, or an SDK that has no seed.
  const isPositionBad = first.outcome === 'journal-position-invalid' && copyUpTo > 0;
  lab.expect(
    isPositionBad || (choice.kind !== 'keep' && isRefusedDeployment(first.outcome)),
    () => `the restart of ${id} (${choice.kind}, ${String(copyUpTo)}) was ${first.outcome}`,
  );
  if (isPositionBad) return undefined;
  const second = await client.restart(id, KEEP, copyUpTo);
  if (second.outcome === 'done') return second.id;
  lab.expect(
    isOneOf(second.outcome, 'journal-missing') ||
      (second.outcome === 'journal-position-invalid' && copyUpTo > 0),
    () => `the restart of ${id} was ${second.outcome}`,
  );
  return undefined;
}

function chooseDeployment(
  { client, chance }: Pick<OperationContext, 'client' | 'chance'>,
  service: string,
): DeploymentChoice {
  const fixed = [...client.deploymentsOf(service), NOWHERE];
  switch (chance.pick(['keep', 'latest', 'fixed'])) {
    case 'keep':
      return KEEP;
    case 'latest':
      return { kind: 'latest' };
    default:
      return { kind: 'fixed', deploymentId: chance.pick(fixed) };
  }
}

function isRefusedDeployment(outcome: OperationOutcome): boolean {
  return isOneOf(
    outcome,
    'deployment-not-found',
    'deployment-not-changeable',
    'deployment-incompatible',
  );
}

/** A step that was taken over says what it said; another one ran later. */
function isRight(step: {
  readonly value: number;
  readonly before: number;
  readonly step: number;
  readonly kept: number;
}): boolean {
  return step.step < step.kept ? step.value === step.before : step.value > step.before;
}

type State = ReadonlyMap<string, Json>;

const emptyState = (): State => new Map();
const markedState = (mark: number): State => new Map([['marks', [100 + mark]]]);
const largeState = (mark: number): State =>
  new Map<string, Json>([
    ['marks', [200 + mark]],
    ['large', 'y'.repeat(BIG_TEXT_LENGTH)],
    ['a', mark],
  ]);

/** The version of a state, computed apart from the server. */
function versionOf(state: State): string {
  const hash = createHash('sha256');
  [...state]
    .map(([key, value]) => ({ key: Buffer.from(key), value: encodeJson(value) }))
    .sort((a, b) => Buffer.compare(a.key, b.key))
    .forEach(({ key, value }, index) => {
      const position = Buffer.alloc(8);
      position.writeBigUInt64BE(BigInt(index));
      hash.update(position).update('\x01').update(key).update('\x02').update(value).update('\x03');
    });
  return hash.digest('base64url');
}

function valueOf(result: Parameters<typeof resultText>[0]): number {
  return result.kind === 'success' ? Number(decodeJson(result.value)) : Number.NaN;
}

function afterOf(value: Json): number {
  return Number((value as { readonly after: number }).after);
}

function isOneOf<T>(value: T, ...allowed: readonly T[]): boolean {
  return allowed.includes(value);
}

function isSame(a: Json, b: Json): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
