/** Codes of attempts, provoked by deployments that do what these codes are for. */

import type { ErrorCode } from '@engine/domain';

import { send } from '../ask.js';
import { bytes, CODE, deepTree, frame, message, run, uint, value } from '../frames.js';
import { HostileDeployment, type Answer, type HostileOptions } from '../hostile-deployment.js';
import { FINE, says } from '../misbehaviour.js';
import { ServiceProcess } from '../service-process.js';
import type { ErrorBody, Sighting } from './sighting.js';
import type { Stage } from './stage.js';

/** Soon enough for a test to see the second attempt. */
const SOON_MS = 200;

/** The failure of a handler that answers so. */
function answering(
  { code, ...options }: HostileOptions & { readonly code: ErrorCode },
  answer: Answer,
): (stage: Stage) => Promise<Sighting[]> {
  return async (stage) => {
    await serve(stage, options, { greet: answer });
    return stage.failureOf(`${options.service}/greet`, code);
  };
}

async function serve(
  stage: Stage,
  options: HostileOptions,
  answers: Readonly<Record<string, Answer>>,
): Promise<HostileDeployment> {
  const deployment = stage.use(await HostileDeployment.start(options, answers));
  await stage.register(deployment.uri);
  return deployment;
}

export const silent = answering(
  {
    service: 'Silent',
    code: 'RT0001',
    settings: { inactivityTimeout: 100, abortTimeout: 100 },
  },
  () => undefined,
);

export const tooLargeMessage = answering({ service: 'Large', code: 'RT0003' }, (attempt) =>
  attempt.say(frame(CODE.output, Buffer.alloc(0), { claimedBytes: 0xffff_ffff })),
);

export const unknownFrame = answering(
  { service: 'Foreign', code: 'RT0012' },
  says(message(0x0450)),
);

export const refusedVersion = answering({ service: 'Exchanged', code: 'RT0015' }, (attempt) => {
  attempt.refuse(415);
});

export const stateOfService = answering(
  { service: 'Stateful', code: 'RT0017' },
  says(message(CODE.setState, bytes(1, 'k'), value(3, '1'))),
);

export const unknownCallee = answering(
  { service: 'Dialler', code: 'RT0018' },
  says(message(CODE.call, bytes(1, 'No'), bytes(2, 'no'), uint(10, 1), uint(11, 2))),
);

export const tooLargeJournal = answering({ service: 'Narrow', code: 'RT0019' }, (attempt) => {
  attempt.refuse(413);
});

export const tooManyRequests = answering({ service: 'Busy', code: 'RT0023' }, (attempt) => {
  attempt.refuse(429, { 'retry-after': '3600' });
});

export const deepWait = answering(
  { service: 'Nested', code: 'RT0025' },
  says(message(CODE.suspension, deepTree(4, 1_001))),
);

/** A scope, of a handler and of a caller, while flow control is off. */
export async function scoped(stage: Stage): Promise<Sighting[]> {
  const call = [bytes(1, 'Scoped'), bytes(2, 'greet'), bytes(7, 'scope'), uint(10, 1), uint(11, 2)];
  await serve(stage, { service: 'Scoped' }, { greet: says(message(CODE.call, ...call)) });
  const url = `${stage.engine.ingressUrl}/engine/scope/scope/call/Scoped/greet`;
  return [await ingressRefusal(url), ...(await stage.failureOf('Scoped/greet', 'RT0024'))];
}

export async function ingressRefusal(url: string): Promise<Sighting> {
  const response = await fetch(url, { method: 'POST' });
  const body = (await response.json()) as ErrorBody;
  return { place: 'ingress', status: response.status, body };
}

export async function goneDeployment(stage: Stage): Promise<Sighting[]> {
  const deployment = await serve(stage, { service: 'Gone' }, { greet: says(...FINE) });
  await deployment[Symbol.asyncDispose]();
  return stage.failureOf('Gone/greet', 'RT0010');
}

/** The deployment is removed while the invocation waits for its time. */
export async function removedDeployment(stage: Stage): Promise<Sighting[]> {
  const { uri } = stage.use(
    await HostileDeployment.start({ service: 'Removed' }, { greet: says(...FINE) }),
  );
  const deployment = await stage.register(uri);
  const id = await send(stage.engine, 'Removed/greet?delay=PT1S');
  const removed = await stage.admin('DELETE', `/deployments/${deployment}?force=true`);
  if (!removed.ok) throw new Error(`the removal is refused: ${await removed.text()}`);
  return stage.failureOfInvocation(id, 'RT0011');
}

/** The deployment is replaced by force with one that lacks the version that the invocation began in. */
export async function droppedVersion(stage: Stage): Promise<Sighting[]> {
  const options = { service: 'Downgraded', protocolVersionMax: 7, retryMs: SOON_MS };
  // The first attempt stores a command, and with it the version; then its response ends too early.
  const deployment = await serve(stage, options, { greet: says(run(1)) });
  const id = await send(stage.engine, 'Downgraded/greet');
  await stage.failureOfInvocation(id, 'RT0007');
  options.protocolVersionMax = 6;
  await stage.register(deployment.uri, { force: true });
  return stage.failureOfInvocation(id, 'RT0014');
}

/** The public SDK, with a handler that throws. */
export async function failingHandler(stage: Stage): Promise<Sighting[]> {
  await sdkServices(stage);
  return stage.failureOf('Faulty/throws', 'RT0007');
}

/** The public SDK, with a handler that takes another step in its second attempt. */
export async function divergingHandler(stage: Stage): Promise<Sighting[]> {
  await sdkServices(stage);
  return stage.failureOf('Faulty/diverges', 'RT0016');
}

const hosted = new WeakMap<Stage, Promise<unknown>>();

function sdkServices(stage: Stage): Promise<unknown> {
  const known = hosted.get(stage);
  if (known !== undefined) return known;
  const started = ServiceProcess.start('error-codes/faulty-services.ts').then((services) =>
    stage.register(stage.use(services).uri),
  );
  hosted.set(stage, started);
  return started;
}
