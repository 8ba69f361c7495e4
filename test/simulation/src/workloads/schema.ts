/** Deployments that serve the scripted services: of every protocol version and both modes, dealt out by chance. */

import {
  deploymentIdFromUlid,
  SchemaLookup,
  ulidBytes,
  type Deployment,
  type HandlerDefaults,
  type HandlerSchema,
  type RetryPolicy,
  type ServiceSchema,
} from '@engine/domain';

import type { Chance } from '../simulator/chance.js';
import { EPOCH_MS } from '../simulator/event-loop.js';
import type { ScriptedService } from './scripted-service.js';

const RETRY_POLICY: RetryPolicy = {
  initialIntervalMs: 20,
  exponentiationFactor: 2,
  maxIntervalMs: 2_000,
  maxAttempts: undefined,
  onMaxAttempts: 'pause',
};

export const RETENTION_MS = 10 * 60_000;

const BRIEF_RETENTION_MS = 100;

const DEFAULTS: HandlerDefaults = {
  inactivityTimeoutMs: 3_000,
  abortTimeoutMs: 6_000,
  journalRetentionMs: 60_000,
  idempotencyRetentionMs: RETENTION_MS,
  workflowCompletionRetentionMs: RETENTION_MS,
  retryPolicy: RETRY_POLICY,
};

export const HANDLER_DEFAULTS = DEFAULTS;

/** One deployment per service; `revision` 2 stands for a redeployment with other versions. */
export function makeDeployments(
  services: readonly ScriptedService[],
  revision: number,
  chance: Chance,
): readonly Deployment[] {
  return services.map((service) => {
    const id = deploymentIdFromUlid(ulidBytes({ timestampMs: EPOCH_MS, random: chance.bytes(10) }));
    const version = chance.between(5, 7);
    const isBidi = chance.happens(0.75);
    return {
      id,
      endpoint: {
        kind: 'http',
        uri: `http://${service.name.toLowerCase()}.simulated:9080/`,
        httpVersion: isBidi ? 'HTTP/2.0' : 'HTTP/1.1',
      },
      protocolMode: isBidi ? 'bidi-stream' : 'request-response',
      additionalHeaders: {},
      metadata: {},
      createdAt: EPOCH_MS,
      minProtocolVersion: 5,
      maxProtocolVersion: version,
      sdkVersion: undefined,
      services: [serviceSchema(service, revision, chance)],
    };
  });
}

export function lookupOf(deployments: readonly Deployment[]): SchemaLookup {
  return new SchemaLookup({ deployments }, DEFAULTS);
}

function serviceSchema(service: ScriptedService, revision: number, chance: Chance): ServiceSchema {
  const handlers = Object.entries(service.handlers).map(([name, { type }]): HandlerSchema => ({
    name,
    type,
    input: undefined,
    output: undefined,
    ingressPrivate: undefined,
    documentation: undefined,
    metadata: {},
    options: {},
  }));
  return {
    name: service.name,
    type: service.type,
    revision,
    handlers,
    ingressPrivate: false,
    documentation: undefined,
    metadata: {},
    options: {
      inactivityTimeoutMs: chance.pick([50, 300, 1_000, 5_000]),
      journalRetentionMs: chance.pick([0, 60_000]),
      enableLazyState: service.isLazy === true,
      ...(service.isBrief === true ? { idempotencyRetentionMs: BRIEF_RETENTION_MS } : {}),
    },
  };
}
