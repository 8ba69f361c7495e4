/** Texts that name things or times: either refused with a reason, or understood so that printing gives the same again. */

import {
  deploymentIdFromUlid,
  deploymentIdToUlid,
  formatAwakeableId,
  formatDuration,
  INVOCATION_ID_BYTES,
  invocationIdFromBytes,
  invocationIdToBytes,
  parseAwakeableId,
  parseDelay,
  parseDeploymentId,
  parseDuration,
  parseInvocationId,
  parseSubscriptionId,
  partitionKeyOf,
  requireInvocationId,
  shardOfInvocation,
  shardOfPartitionKey,
  subscriptionIdFromUlid,
  subscriptionIdToUlid,
  ULID_BYTES,
} from '@engine/domain';
import { assert, encodeUtf8 } from '@engine/stdx';

import type { Chance } from '../chance.js';
import { mutateText } from '../mutate.js';
import { codedOnly, openTarget, type Target } from '../target.js';

const UNITS = [
  ...['w', 'd', 'days', 'h', 'hr', 'm', 'min', 's', 'sec', 'ms', 'us', '\u00b5s', '\u03bcs', 'ns'],
  ...['mo', 'y', 'years', 'ago', '', 'x'],
];

/** A duration of up to this many characters is what a header or a query can hold. */
const LONG_TEXT = 20_000;

export const ids: Target = {
  name: 'ids',
  open: () =>
    openTarget((chance) => {
      const text = textOf(chance);
      const shards = chance.between(1, 65_535);
      return {
        bytes: encodeUtf8(text),
        run: () => {
          judgeInvocationId(text, shards);
          judgeUlidIds(text);
          judgeAwakeableId(text);
          judgeDurations(text);
        },
      };
    }),
};

function textOf(chance: Chance): string {
  if (chance.yes(0.1)) return chance.text(chance.length(80));
  if (chance.yes(0.001))
    return chance.pick(['9', 'P', '1h', ' ', '=', '1:', 'inv_1']).repeat(LONG_TEXT);
  const text = validText(chance);
  return chance.yes(0.6) ? mutateText(chance, text) : text;
}

function validText(chance: Chance): string {
  switch (chance.below(7)) {
    case 0:
      return invocationIdFromBytes(chance.bytes(INVOCATION_ID_BYTES));
    case 1:
      return deploymentIdFromUlid(chance.bytes(ULID_BYTES));
    case 2:
      return subscriptionIdFromUlid(chance.bytes(ULID_BYTES));
    case 3: {
      const invocationId = invocationIdFromBytes(chance.bytes(INVOCATION_ID_BYTES));
      const id = formatAwakeableId({ invocationId, signalIndex: chance.number() });
      return chance.yes(0.7) ? id : id.replace('sign', 'prom');
    }
    case 4:
      return isoText(chance);
    case 5:
      return `${chance.text(chance.below(2))}${digits(chance)}:${digits(chance)}:${digits(chance)}`;
    default:
      return chance
        .list(
          chance.between(1, 4),
          () => `${digits(chance)}${chance.pick(['', ' '])}${chance.pick(UNITS)}`,
        )
        .join(chance.pick([' ', '', ', ']));
  }
}

function isoText(chance: Chance): string {
  const part = (units: string): string =>
    Array.from(units, (unit) => (chance.yes(0.4) ? `${digits(chance)}${unit}` : '')).join('');
  return `${chance.pick(['P', 'p', '-P', '+P'])}${part('YMWD')}${chance.yes(0.8) ? 'T' : ''}${part('HMS')}`;
}

function digits(chance: Chance): string {
  const whole = chance.yes(0.9) ? String(chance.number()) : '9'.repeat(chance.length(400));
  return chance.yes(0.8) ? whole : `${whole}${chance.pick(['.', ','])}${String(chance.number())}`;
}

function judgeInvocationId(text: string, shards: number): void {
  const parsed = parseInvocationId(text);
  const required = codedOnly(['bad-request'], () => requireInvocationId(text));
  assert((parsed.kind === 'ok') === (required !== undefined), 'both parsers agree');
  if (parsed.kind === 'bad') return;
  const bytes = invocationIdToBytes(parsed.id);
  assert(invocationIdFromBytes(bytes) === text, 'an invocation id comes back from its bytes');
  const shard = shardOfInvocation(parsed.id, shards);
  assert(shard >= 0 && shard < shards, 'an id has a shard');
  assert(shard === shardOfPartitionKey(partitionKeyOf(parsed.id), shards), 'of its partition key');
}

function judgeUlidIds(text: string): void {
  const deployment = parseDeploymentId(text);
  if (deployment.kind === 'ok') {
    const again = deploymentIdFromUlid(deploymentIdToUlid(deployment.id));
    assert(again === text, 'a deployment id comes back from its ULID');
  }
  const subscription = parseSubscriptionId(text);
  if (subscription.kind === 'ok') {
    const again = subscriptionIdFromUlid(subscriptionIdToUlid(subscription.id));
    assert(again === text, 'a subscription id comes back from its ULID');
  }
}

function judgeAwakeableId(text: string): void {
  const parsed = parseAwakeableId(text);
  if (parsed.kind === 'bad') return;
  const again = formatAwakeableId(parsed.id).slice('sign_'.length);
  const given = text.slice('sign_'.length).replace(/=+$/, '');
  assert(again === given, 'an awakeable id comes back from what it names');
}

function judgeDurations(text: string): void {
  const parsed = parseDuration(text);
  if (parsed.kind === 'ok') {
    assert(parsed.ms >= 0 && Number.isFinite(parsed.ms), 'a duration is a number of ms');
    const printed = formatDuration(parsed.ms);
    const again = parseDuration(printed);
    assert(again.kind === 'ok', `a printed duration can be read: '${printed}'`);
    const error = Math.abs(again.ms - parsed.ms);
    assert(error <= 1e-6 + parsed.ms * 1e-9, `'${printed}' means the same`);
  }
  const delay = parseDelay(text);
  if (delay.kind === 'bad') return;
  assert(Number.isFinite(delay.ms) && Math.trunc(delay.ms) === delay.ms, 'a delay is whole ms');
  assert(delay.ms >= 0, 'a delay is not negative');
}
