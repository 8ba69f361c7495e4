/**
 * The manifest that an endpoint answers discovery with. Whatever is accepted must also do as a schema: it can be stored and loaded,
 * looked up, and its retry policy gives waits that a timer can hold.
 */

import {
  DEFAULT_RETRY_POLICY,
  ERROR_CODES,
  nextRetryDelayMs,
  SchemaLookup,
  type Deployment,
  type DeploymentId,
  type HandlerDefaults,
} from '@engine/domain';
import { decodeSchema, encodeSchema } from '@engine/metadata';
import {
  MANIFEST_CONTENT_TYPES,
  readDiscovery,
  type Discovery,
  type DiscoveryAnswer,
} from '@engine/service-protocol';
import { assert, encodeUtf8 } from '@engine/stdx';

import type { Chance } from '../chance.js';
import { deepJson, jsonKey, jsonText } from '../json.js';
import { mutateBytes } from '../mutate.js';
import { openTarget, type Target } from '../target.js';

const DAY_MS = 86_400_000;
const DEFAULTS: HandlerDefaults = {
  inactivityTimeoutMs: 60_000,
  abortTimeoutMs: 60_000,
  journalRetentionMs: DAY_MS,
  idempotencyRetentionMs: DAY_MS,
  workflowCompletionRetentionMs: DAY_MS,
  retryPolicy: DEFAULT_RETRY_POLICY,
};
const CODES: readonly (string | undefined)[] = [...ERROR_CODES, undefined];
const FAILURES = [1, 2, 3, 10, 70, 1_025, 100_000];
/** Levels that a schema may have: within what is looked at, beyond it, and beyond what a stack holds. */
const LEVELS = [3, 50, 199, 201, 2_000, 20_000];

export const discovery: Target = {
  name: 'discovery',
  open: () =>
    openTarget((chance) => {
      const answer = answerOf(chance);
      return {
        bytes: answer.body,
        run: () => {
          const result = readDiscovery(answer);
          if (result.kind === 'discovered') {
            judge(result);
          } else {
            assert(CODES.includes(result.code), 'a refusal has a documented code');
            assert(result.message !== '', 'a refusal says what is wrong');
          }
        },
      };
    }),
};

function answerOf(chance: Chance): DiscoveryAnswer {
  const body = encodeUtf8(chance.yes(0.05) ? jsonText(chance) : manifest(chance));
  return {
    contentType: chance.yes(0.97) ? chance.pick(MANIFEST_CONTENT_TYPES) : chance.text(9),
    body: chance.yes(0.15) ? mutateBytes(chance, body) : body,
    sdkVersion: chance.pick([undefined, 'restate-sdk-typescript/1.17.2', chance.text(9)]),
    canStreamBothWays: chance.yes(0.9),
  };
}

function manifest(chance: Chance): string {
  return object(chance, [
    ['protocolMode', () => quoted(chance, ['BIDI_STREAM', 'REQUEST_RESPONSE'])],
    ['minProtocolVersion', () => String(chance.between(1, 5))],
    ['maxProtocolVersion', () => String(chance.between(5, 9))],
    ['services', () => list(chance, () => service(chance))],
  ]);
}

function service(chance: Chance): string {
  const type = chance.pick(['SERVICE', 'VIRTUAL_OBJECT', 'WORKFLOW']);
  return object(chance, [
    ['name', () => name(chance)],
    ['ty', () => JSON.stringify(type)],
    ['handlers', () => list(chance, () => handler(chance, type))],
    ...options(chance),
  ]);
}

function handler(chance: Chance, serviceType: string): string {
  const types = {
    SERVICE: ['SHARED'],
    VIRTUAL_OBJECT: ['EXCLUSIVE', 'SHARED'],
    WORKFLOW: ['WORKFLOW', 'SHARED'],
  };
  const own = types[serviceType as keyof typeof types];
  const input = (): string =>
    object(chance, [
      ['required', () => quoted(chance, [true, false])],
      [
        'contentType',
        () =>
          quoted(chance, chance.yes(0.9) ? ['application/json', '*/*', 'text/*'] : ['/', '', ';']),
      ],
      ['jsonSchema', () => jsonSchema(chance)],
    ]);
  const output = (): string =>
    object(chance, [
      [
        'contentType',
        () => quoted(chance, chance.yes(0.9) ? ['application/json', '\u00e9'] : ['a\nb', '\u20ac']),
      ],
      ['setContentTypeIfEmpty', () => quoted(chance, [true, false])],
      ['jsonSchema', () => jsonSchema(chance)],
    ]);
  return object(chance, [
    ['name', () => name(chance)],
    ...maybe(chance, ['ty', () => quoted(chance, own)] as const),
    ...maybe(chance, ['input', input] as const),
    ...maybe(chance, ['output', output] as const),
    ...options(chance),
  ]);
}

type Member = readonly [name: string, value: () => string];

function options(chance: Chance): Member[] {
  const number = (): string =>
    chance.yes(0.98)
      ? String(chance.pick([0, 1, 500, 2 ** 31, Number.MAX_SAFE_INTEGER]))
      : jsonText(chance, 0);
  const factor = (): string =>
    chance.pick(['1', '2', '0', '-2', '1.5', '-1e300', '1e300', '1e-300', 'null']);
  const members: Member[] = [
    ['inactivityTimeout', number],
    ['abortTimeout', number],
    ['journalRetention', number],
    ['idempotencyRetention', number],
    ['retryPolicyInitialInterval', number],
    ['retryPolicyMaxInterval', number],
    ['retryPolicyMaxAttempts', number],
    ['retryPolicyExponentiationFactor', factor],
    ['retryPolicyOnMaxAttempts', () => quoted(chance, ['PAUSE', 'KILL'])],
    ['enableLazyState', () => quoted(chance, [true, false])],
    ['ingressPrivate', () => quoted(chance, [true, false])],
    ['documentation', () => JSON.stringify(chance.text(chance.length(30)))],
    ['metadata', () => `{${jsonKey(chance)}:${JSON.stringify(chance.text(4))}}`],
  ];
  return members.filter(() => chance.yes(0.3));
}

function jsonSchema(chance: Chance): string {
  if (chance.yes(0.02)) return deepJson(chance, chance.pick(LEVELS));
  if (chance.yes(0.02)) return `{${jsonKey(chance)}:${deepJson(chance, chance.pick(LEVELS))}}`;
  if (chance.yes(0.05)) return jsonText(chance);
  return object(chance, [
    [
      'type',
      () => quoted(chance, ['string', 'object', 'number', chance.yes(0.9) ? 'array' : 'nonsense']),
    ],
    ...maybe(chance, ['properties', () => `{${jsonKey(chance)}:${jsonSchema(chance)}}`] as const),
    ...maybe(chance, [
      '$ref',
      () => quoted(chance, ['#/a', '#', chance.yes(0.9) ? '#b' : 'http://x/']),
    ] as const),
    ...maybe(chance, [
      'minLength',
      () => (chance.yes(0.9) ? String(chance.number()) : jsonText(chance, 0)),
    ] as const),
    ...maybe(chance, ['default', () => jsonText(chance)] as const),
  ]);
}

function maybe<T>(chance: Chance, ...members: T[]): T[] {
  return chance.yes(0.4) ? members : [];
}

/** Members in order; now and then one is missing, foreign or of another type. */
function object(chance: Chance, members: readonly Member[]): string {
  const texts = members
    .filter(() => chance.yes(0.997))
    .map(
      ([key, value]) => `${JSON.stringify(key)}:${chance.yes(0.997) ? value() : jsonText(chance)}`,
    );
  if (chance.yes(0.01)) texts.push(`${jsonKey(chance)}:${jsonText(chance)}`);
  return `{${texts.join(',')}}`;
}

function list(chance: Chance, item: () => string): string {
  return `[${chance.list(chance.between(1, 3), item).join(',')}]`;
}

function quoted(chance: Chance, values: readonly unknown[]): string {
  return JSON.stringify(chance.pick(values));
}

function name(chance: Chance): string {
  const text = chance.yes(0.97)
    ? `s${String(chance.below(4))}`
    : chance.pick(['constructor', 'toString', 'valueOf', 'restatex', '__proto__', '_']);
  return JSON.stringify(text);
}

function judge(found: Discovery): void {
  const names = found.services.map((service_) => service_.name);
  assert(new Set(names).size === names.length, 'every service stands once');
  const deployment = deploymentOf(found);
  const stored = decodeSchema(encodeSchema({ deployments: [deployment] }));
  for (const schema of [{ deployments: [deployment] }, stored]) {
    const lookup = new SchemaLookup(schema, DEFAULTS);
    for (const { handlers } of lookup.services()) {
      for (const { retryPolicy } of handlers.values()) {
        for (const failures of FAILURES) {
          const delayMs = nextRetryDelayMs(retryPolicy, failures, 0.5);
          assert(delayMs === undefined || delayMs >= 0, 'a wait is a number of ms');
        }
      }
    }
  }
}

function deploymentOf(found: Discovery): Deployment {
  return {
    id: 'dp_1' as DeploymentId,
    endpoint: { kind: 'http', uri: 'http://localhost:9080/', httpVersion: 'HTTP/2.0' },
    protocolMode: found.protocolMode,
    additionalHeaders: {},
    metadata: {},
    createdAt: 0,
    minProtocolVersion: found.minProtocolVersion,
    maxProtocolVersion: found.maxProtocolVersion,
    sdkVersion: found.sdkVersion,
    services: found.services.map((service_) => ({ ...service_, revision: 1 })),
  };
}
