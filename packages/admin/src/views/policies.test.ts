import { describe, expect, it } from '@jest/globals';
import {
  DEFAULT_RETRY_POLICY,
  type Deployment,
  type DeploymentId,
  type HandlerDefaults,
  type HandlerOptions,
  type HandlerSchema,
  type ProtocolMode,
  type ServiceSchema,
} from '@engine/domain';
import { deploymentView, registrationView } from './deployment-view.js';
import { handlerView } from './handler-view.js';
import { serviceView } from './service-view.js';
import type { ViewOptions } from './texts.js';

const HOUR = 3_600_000;
const DEFAULTS: HandlerDefaults = {
  inactivityTimeoutMs: 60_000,
  abortTimeoutMs: 600_000,
  journalRetentionMs: 24 * HOUR,
  idempotencyRetentionMs: 24 * HOUR,
  workflowCompletionRetentionMs: 24 * HOUR,
  retryPolicy: DEFAULT_RETRY_POLICY,
};
const CAPPED: HandlerDefaults = {
  ...DEFAULTS,
  caps: {
    journalRetentionMs: HOUR,
    idempotencyRetentionMs: 2 * HOUR,
    workflowCompletionRetentionMs: 3 * HOUR,
    retryAttempts: 5,
  },
};
const ALL: HandlerOptions = {
  inactivityTimeoutMs: 90_000,
  abortTimeoutMs: 0,
  journalRetentionMs: 48 * HOUR,
  idempotencyRetentionMs: 48 * HOUR,
  workflowCompletionRetentionMs: 48 * HOUR,
  enableLazyState: false,
  retryPolicy: {
    initialIntervalMs: 250,
    exponentiationFactor: 1.5,
    maxIntervalMs: 10_000,
    maxAttempts: 9,
    onMaxAttempts: 'kill',
  },
};

function view(defaults = DEFAULTS, wording: ViewOptions['wording'] = 'interface'): ViewOptions {
  return { defaults, wording };
}

function handler(options: HandlerOptions, type?: HandlerSchema['type']): HandlerSchema {
  return {
    name: 'go',
    type,
    input: undefined,
    output: undefined,
    ingressPrivate: undefined,
    documentation: undefined,
    metadata: {},
    options,
  };
}

function service(parts: Partial<ServiceSchema> = {}): ServiceSchema {
  return {
    name: 'Svc',
    type: 'service',
    revision: 1,
    handlers: [],
    ingressPrivate: false,
    documentation: undefined,
    metadata: {},
    options: {},
    ...parts,
  };
}

function deployment(
  protocolMode: ProtocolMode = 'bidi-stream',
  maxProtocolVersion = 7,
): Deployment {
  return {
    id: 'dp_1' as DeploymentId,
    endpoint: { kind: 'http', uri: 'http://localhost:9080/', httpVersion: 'HTTP/2.0' },
    protocolMode,
    additionalHeaders: {},
    metadata: {},
    createdAt: 0,
    minProtocolVersion: 1,
    maxProtocolVersion,
    sdkVersion: undefined,
    services: [],
  };
}

/** As a client sees it. */
function seen(answer: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(answer)) as Record<string, unknown>;
}

function seenHandler(options: HandlerOptions, how = view(), place = deployment()) {
  return seen(handlerView(handler(options), { service: service(), deployment: place }, how));
}

describe('a handler', () => {
  it('that asks for nothing shows nothing', () => {
    expect(seenHandler({})).toEqual({
      name: 'go',
      input_description: '',
      output_description: '',
      public: true,
      retry_policy: { max_attempts: null },
    });
  });

  it.each([
    ['interface', '2days'],
    ['short', '2d'],
  ] as const)('that asks for everything shows everything, wording %s', (wording, twoDays) => {
    expect(seenHandler(ALL, view(DEFAULTS, wording))).toMatchObject({
      inactivity_timeout: '1m 30s',
      abort_timeout: '0s',
      journal_retention: twoDays,
      idempotency_retention: twoDays,
      enable_lazy_state: false,
      retry_policy: {
        initial_interval: '250ms',
        exponentiation_factor: 1.5,
        max_interval: '10s',
        max_attempts: 9,
        on_max_attempts: 'Kill',
      },
    });
  });

  it('shows what it is granted and says what it asked for (RT0022)', () => {
    const { info, ...rest } = seenHandler(ALL, view(CAPPED));
    expect(rest).toMatchObject({
      journal_retention: '1h',
      idempotency_retention: '2h',
      retry_policy: { max_attempts: 9 },
    });
    const note = (setting: string, granted: string): object => ({
      code: 'RT0022',
      message: `${setting} 2days is more than this server allows: ${granted} is used`,
    });
    expect(info).toEqual([
      note('idempotency_retention', '2h'),
      note('workflow_completion_retention', '3h'),
      note('journal_retention', '1h'),
    ]);
  });

  it('is told that nobody hears of its inactivity timeout (RT0021)', () => {
    const { info } = seenHandler(ALL, view(), deployment('request-response'));
    const message =
      'inactivity_timeout 1m 30s has no effect: the deployment is in request-response mode';
    expect(info).toEqual([{ code: 'RT0021', message }]);
    expect(seenHandler({}, view(CAPPED), deployment('request-response'))).not.toHaveProperty(
      'info',
    );
  });
});

describe('a service', () => {
  it('shows every setting in force', () => {
    expect(seen(serviceView(service(), deployment(), view()))).toEqual({
      name: 'Svc',
      ty: 'Service',
      handlers: [],
      deployment_id: 'dp_1',
      revision: 1,
      public: true,
      idempotency_retention: '1day',
      journal_retention: '1day',
      inactivity_timeout: '1m',
      abort_timeout: '10m',
      enable_lazy_state: false,
      retry_policy: {
        initial_interval: '500ms',
        exponentiation_factor: 2,
        max_attempts: 70,
        max_interval: '1m',
        on_max_attempts: 'Pause',
      },
    });
  });

  it('shows unlimited attempts as null', () => {
    const retryPolicy = { ...DEFAULT_RETRY_POLICY, maxAttempts: undefined };
    const { retry_policy } = serviceView(
      service(),
      deployment(),
      view({ ...DEFAULTS, retryPolicy }),
    );
    expect(retry_policy).toMatchObject({ max_attempts: null });
  });

  it('shows defaults as the maximum has them, without a note: nobody asked', () => {
    const answer = seen(serviceView(service({ type: 'workflow' }), deployment(), view(CAPPED)));
    expect(answer).toMatchObject({
      journal_retention: '1h',
      idempotency_retention: '2h',
      workflow_completion_retention: '3h',
      retry_policy: { max_attempts: 70 },
    });
    expect(answer).not.toHaveProperty('info');
  });

  it("shows what its run handler asks for, and each handler's notes once", () => {
    const asked = { workflowCompletionRetentionMs: 48 * HOUR };
    const handlers = [handler(asked, 'workflow'), { ...handler(asked, 'shared'), name: 'more' }];
    const flow = service({ type: 'workflow', handlers });
    expect(seen(serviceView(flow, deployment(), view(CAPPED, 'short')))).toMatchObject({
      workflow_completion_retention: '3h',
      info: [
        {
          code: 'RT0022',
          message: 'workflow_completion_retention 2d is more than this server allows: 3h is used',
        },
      ],
    });
  });

  it('in request-response mode has no inactivity timeout, and is told when it wants one', () => {
    const place = deployment('request-response');
    const asking = service({ options: { inactivityTimeoutMs: 1_000 } });
    expect(seen(serviceView(asking, place, view()))).toMatchObject({
      inactivity_timeout: '0s',
      info: [{ code: 'RT0021' }],
    });
    const handlers = [handler({ inactivityTimeoutMs: 1_000 })];
    const { info } = serviceView(service({ handlers }), place, view());
    expect(info).toMatchObject([{ code: 'RT0021' }]);
    expect(serviceView(service(), place, view())['info']).toBeUndefined();
  });

  it('leaves out the retention of journals that nobody keeps, unless it says so itself', () => {
    const none = { ...DEFAULTS, journalRetentionMs: 0 };
    const shown = (options: HandlerOptions): unknown =>
      serviceView(service({ options }), deployment(), view(none))['journal_retention'];
    expect([shown({}), shown({ journalRetentionMs: 0 })]).toEqual([undefined, '0s']);
  });
});

describe('a deployment', () => {
  it('whose protocol has retired says so (RT0020)', () => {
    const old = deployment('bidi-stream', 4);
    for (const show of [deploymentView, registrationView]) {
      expect(show(old, view())['info']).toMatchObject([{ code: 'RT0020' }]);
      expect(show(deployment(), view())['info']).toBeUndefined();
    }
  });
});
