import { describe, expect, it } from '@jest/globals';
import { resolvePolicies } from './handler-policies.js';
import { DURATION_MS_MAX } from './limits.js';
import { DEFAULT_RETRY_POLICY } from './retry-policy.js';
import { retentionOf, SchemaLookup } from './schema-lookup.js';
import type {
  Deployment,
  HandlerCaps,
  HandlerDefaults,
  HandlerOptions,
  HandlerSchema,
  ServiceSchema,
} from './schema.js';
import type { DeploymentId } from './ids/index.js';

const DAY = 86_400_000;
const DEFAULTS: HandlerDefaults = {
  inactivityTimeoutMs: 60_000,
  abortTimeoutMs: 600_000,
  journalRetentionMs: DAY,
  idempotencyRetentionMs: DAY,
  workflowCompletionRetentionMs: DAY,
  retryPolicy: DEFAULT_RETRY_POLICY,
};
const capped = (caps: HandlerCaps): HandlerDefaults => ({ ...DEFAULTS, caps });

const TIMES = [
  'inactivityTimeoutMs',
  'abortTimeoutMs',
  'journalRetentionMs',
  'idempotencyRetentionMs',
  'workflowCompletionRetentionMs',
] as const;
const RETRY_FIELDS = [
  { name: 'initialIntervalMs', own: 1, service: 2, server: 500 },
  { name: 'exponentiationFactor', own: 1.5, service: 3, server: 2 },
  { name: 'maxIntervalMs', own: 10, service: 20, server: 60_000 },
  { name: 'maxAttempts', own: 1, service: 2, server: 70 },
  { name: 'onMaxAttempts', own: 'kill', service: 'kill', server: 'pause' },
] as const;

const HANDLER: HandlerSchema = {
  name: 'go',
  type: undefined,
  input: undefined,
  output: undefined,
  ingressPrivate: undefined,
  documentation: undefined,
  metadata: {},
  options: {},
};

describe('a setting', () => {
  it.each(TIMES)("%s is the handler's, else the service's, else the server's", (name) => {
    expect(resolvePolicies({ [name]: 0 }, { [name]: 5 }, DEFAULTS)[name]).toBe(0);
    expect(resolvePolicies({}, { [name]: 5 }, DEFAULTS)[name]).toBe(5);
    expect(resolvePolicies({}, {}, DEFAULTS)[name]).toBe(DEFAULTS[name]);
  });

  it.each(RETRY_FIELDS)('$name of the retry policy is inherited alone', (field) => {
    const { name, own, service, server } = field;
    const policy = (mine: HandlerOptions, theirs: HandlerOptions): unknown =>
      resolvePolicies(mine, theirs, DEFAULTS).retryPolicy[name];
    const others = { retryPolicy: { [name]: service } };
    expect(policy({ retryPolicy: { [name]: own } }, others)).toBe(own);
    expect(policy({ retryPolicy: {} }, others)).toBe(service);
    expect(policy({}, {})).toBe(server);
  });

  it('lazy state is off unless somebody asks for it', () => {
    const lazy = { enableLazyState: true };
    expect(resolvePolicies({}, {}, DEFAULTS).enableLazyState).toBe(false);
    expect(resolvePolicies({}, lazy, DEFAULTS).enableLazyState).toBe(true);
    expect(resolvePolicies({ enableLazyState: false }, lazy, DEFAULTS).enableLazyState).toBe(false);
  });

  it('is a whole number of ms that a clock can take, and small is not nothing', () => {
    const asked = { abortTimeoutMs: 0.01, journalRetentionMs: Number.MAX_SAFE_INTEGER };
    expect(resolvePolicies(asked, {}, DEFAULTS)).toMatchObject({
      abortTimeoutMs: 1,
      journalRetentionMs: DURATION_MS_MAX,
    });
  });
});

describe('a cap of the server', () => {
  it.each([
    'journalRetentionMs',
    'idempotencyRetentionMs',
    'workflowCompletionRetentionMs',
  ] as const)('bounds %s, wherever it comes from', (name) => {
    const defaults = capped({ [name]: 1_000 });
    expect(resolvePolicies({ [name]: 1_001 }, {}, defaults)[name]).toBe(1_000);
    expect(resolvePolicies({}, { [name]: 1_001 }, defaults)[name]).toBe(1_000);
    expect(resolvePolicies({}, {}, defaults)[name]).toBe(1_000);
    expect(resolvePolicies({ [name]: 999 }, {}, defaults)[name]).toBe(999);
    expect(resolvePolicies({ [name]: 5 }, {}, capped({ [name]: 0 }))[name]).toBe(0);
  });

  it.each([
    [100, 10, 10],
    [undefined, 10, 10],
    [3, 10, 3],
    [100, undefined, 100],
    [undefined, undefined, undefined],
  ])('bounds %s attempts by %s to %s', (maxAttempts, retryAttempts, expected) => {
    const defaults = {
      ...capped({ retryAttempts }),
      retryPolicy: { ...DEFAULT_RETRY_POLICY, maxAttempts },
    };
    expect(resolvePolicies({}, {}, defaults).retryPolicy.maxAttempts).toBe(expected);
  });
});

describe('retentions of an invocation', () => {
  const handlerOf = (type: HandlerSchema['type'], service: ServiceSchema['type']) => {
    const options: HandlerOptions = {
      journalRetentionMs: 30,
      idempotencyRetentionMs: 20,
      workflowCompletionRetentionMs: 10,
    };
    const handler = { ...HANDLER, type, options };
    const schema = { deployments: [deploymentOf(1, { type: service, handlers: [handler] })] };
    const resolved = new SchemaLookup(schema, DEFAULTS).handler('Svc', 'go');
    if (resolved === undefined) throw new Error('the handler is there');
    return resolved;
  };

  it.each([
    ['a plain call is kept as long as its journal', handlerOf(undefined, 'service'), 'no key', 30],
    ['a key caps the journal', handlerOf(undefined, 'service'), 'key', 20],
    ['the key of an object is none', handlerOf('exclusive', 'virtual-object'), 'no key', 30],
    ['a run is kept as a workflow', handlerOf('workflow', 'workflow'), 'no key', 10],
    ['a shared handler of a workflow is like others', handlerOf('shared', 'workflow'), 'key', 20],
  ] as const)('%s', (...[, handler, key, keptMs]) => {
    expect(retentionOf(handler, key === 'key')).toEqual({
      completionRetentionMs: keptMs,
      journalRetentionMs: keptMs,
    });
  });
});

describe('a deployment', () => {
  it('is asked for the settings of its own revision', () => {
    const older = deploymentOf(1, { options: { abortTimeoutMs: 1 } });
    const newer = deploymentOf(2, { options: { abortTimeoutMs: 2 } });
    const lookup = new SchemaLookup({ deployments: [newer, older] }, DEFAULTS);
    const abort = (deployment: Deployment): number | undefined =>
      lookup.serviceOf(deployment.id, 'Svc')?.handlers.get('go')?.abortTimeoutMs;
    expect([abort(older), abort(newer)]).toEqual([1, 2]);
    expect(lookup.handler('Svc', 'go')?.abortTimeoutMs).toBe(2);
  });
});

function deploymentOf(revision: number, service: Partial<ServiceSchema>): Deployment {
  return {
    id: `dp_${String(revision)}` as DeploymentId,
    endpoint: { kind: 'http', uri: 'http://localhost:9080/', httpVersion: 'HTTP/2.0' },
    protocolMode: 'bidi-stream',
    additionalHeaders: {},
    metadata: {},
    createdAt: 0,
    minProtocolVersion: 5,
    maxProtocolVersion: 7,
    sdkVersion: undefined,
    services: [
      {
        name: 'Svc',
        type: 'service',
        revision,
        handlers: [HANDLER],
        ingressPrivate: false,
        documentation: undefined,
        metadata: {},
        options: {},
        ...service,
      },
    ],
  };
}
