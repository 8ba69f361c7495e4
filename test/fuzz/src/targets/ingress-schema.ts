/** A schema with a service of each type, and one whose deployment is outdated. */

import {
  DEFAULT_RETRY_POLICY,
  SchemaLookup,
  type Deployment,
  type DeploymentId,
  type HandlerSchema,
  type ServiceSchema,
} from '@engine/domain';

const DAY_MS = 86_400_000;

export function schemaOf(): SchemaLookup {
  const current = [
    service('Greeter', 'service', [
      handler('greet'),
      handler('open', { input: undefined }),
      handler('hidden', { ingressPrivate: true }),
    ]),
    service('Counter', 'virtual-object', [
      handler('add', { type: 'exclusive' }),
      handler('get', { type: 'shared' }),
    ]),
    service('Flow', 'workflow', [
      handler('run', { type: 'workflow' }),
      handler('stage', { type: 'shared' }),
    ]),
  ];
  const deployments = [
    deployment('dp_current', 7, current),
    deployment('dp_old', 4, [service('Old', 'service', [handler('greet')])]),
  ];
  return new SchemaLookup(
    { deployments },
    {
      inactivityTimeoutMs: 60_000,
      abortTimeoutMs: 60_000,
      journalRetentionMs: DAY_MS,
      idempotencyRetentionMs: DAY_MS,
      workflowCompletionRetentionMs: DAY_MS,
      retryPolicy: DEFAULT_RETRY_POLICY,
    },
  );
}

function deployment(id: string, maxProtocolVersion: number, services: ServiceSchema[]): Deployment {
  return {
    id: id as DeploymentId,
    endpoint: { kind: 'http', uri: 'http://localhost:9080', httpVersion: 'HTTP/2.0' },
    protocolMode: 'bidi-stream',
    additionalHeaders: {},
    metadata: {},
    createdAt: 0,
    minProtocolVersion: 1,
    maxProtocolVersion,
    sdkVersion: undefined,
    services,
  };
}

function service(
  name: string,
  type: ServiceSchema['type'],
  handlers: readonly HandlerSchema[],
): ServiceSchema {
  return {
    name,
    type,
    revision: 1,
    handlers,
    ingressPrivate: false,
    documentation: undefined,
    metadata: {},
    options: {},
  };
}

function handler(name: string, more: Partial<HandlerSchema> = {}): HandlerSchema {
  return {
    name,
    type: undefined,
    input: { required: false, contentType: 'application/json', jsonSchema: undefined },
    output: undefined,
    ingressPrivate: undefined,
    documentation: undefined,
    metadata: {},
    options: {},
    ...more,
  };
}
