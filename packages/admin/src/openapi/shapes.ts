/** Shapes of answers. Tests hold real answers against them, and the OpenAPI document shows them. */

import { z } from 'zod';

const texts = z.record(z.string(), z.string());
const duration = z.string().describe('A duration, such as `1h 30m`.');
const count = z.int().min(0);
const time = z.iso.datetime().describe('RFC 3339, UTC.');
const anyJson = z.unknown();

export const errorShape = z
  .strictObject({
    message: z.string().describe('What went wrong, for people.'),
    engine_code: z.string().nullable().optional().describe('Documented code, or null.'),
    restate_code: z.string().nullable().optional().describe('The same under another name.'),
  })
  .describe('Why a request failed.');

export const infoShape = z
  .strictObject({ message: z.string(), code: z.string().nullable().optional() })
  .describe('A note on a setting that is not in force as asked, or on something outdated.');
const info = z.array(infoShape).optional();

const handlerRetryPolicyShape = z.strictObject({
  initial_interval: duration.optional(),
  exponentiation_factor: z.number().optional(),
  max_interval: duration.optional(),
  max_attempts: z.int().min(1).nullable().describe('Null: no limit of its own.'),
  on_max_attempts: z.enum(['Pause', 'Kill']).optional(),
});

export const handlerShape = z
  .strictObject({
    name: z.string(),
    ty: z.enum(['Exclusive', 'Shared', 'Workflow']).optional(),
    input_description: z.string().describe('Empty: the deployment did not say.'),
    output_description: z.string().describe('Empty: the deployment did not say.'),
    input_json_schema: anyJson.optional(),
    output_json_schema: anyJson.optional(),
    public: z.boolean(),
    documentation: z.string().optional(),
    metadata: texts.optional(),
    info,
    enable_lazy_state: z.boolean().optional(),
    inactivity_timeout: duration.optional(),
    abort_timeout: duration.optional(),
    idempotency_retention: duration.optional(),
    journal_retention: duration.optional(),
    retry_policy: handlerRetryPolicyShape,
  })
  .describe('A handler. Settings are shown that it makes itself; else those of the service hold.');

export const handlerListShape = z.strictObject({ handlers: z.array(handlerShape) });

export const serviceShape = z
  .strictObject({
    name: z.string(),
    ty: z.enum(['Service', 'VirtualObject', 'Workflow']),
    handlers: z.array(handlerShape),
    documentation: z.string().optional(),
    metadata: texts.optional(),
    deployment_id: z.string(),
    revision: z.int().min(1),
    public: z.boolean(),
    idempotency_retention: duration,
    workflow_completion_retention: duration.optional(),
    journal_retention: duration.optional(),
    inactivity_timeout: duration,
    abort_timeout: duration,
    enable_lazy_state: z.boolean(),
    retry_policy: handlerRetryPolicyShape.required({
      initial_interval: true,
      exponentiation_factor: true,
      max_interval: true,
      on_max_attempts: true,
    }),
    info,
  })
  .describe('A service as one deployment serves it, with every setting that applies.');

export const serviceListShape = z.strictObject({ services: z.array(serviceShape) });

const reachedOverHttp = {
  uri: z.string(),
  protocol_type: z.enum(['BidiStream', 'RequestResponse']),
  http_version: z.enum(['HTTP/1.1', 'HTTP/2.0']),
};
const reachedAsFunction = {
  arn: z.string(),
  assume_role_arn: z.string().optional(),
  compression: z.literal('Zstd').optional(),
};
const versions = {
  min_protocol_version: count,
  max_protocol_version: count,
  sdk_version: z.string().optional(),
};
const common = {
  id: z.string(),
  additional_headers: texts.optional(),
  metadata: texts.optional(),
  created_at: time,
  ...versions,
  info,
};
const listed = {
  ...common,
  services: z.array(z.strictObject({ name: z.string(), revision: z.int().min(1) })),
};
const detailed = { ...common, services: z.array(serviceShape) };

export const deploymentListShape = z.strictObject({
  deployments: z.array(
    z.union([
      z.strictObject({ ...reachedOverHttp, ...listed }),
      z.strictObject({ ...reachedAsFunction, ...listed }),
    ]),
  ),
});

export const deploymentShape = z
  .union([
    z.strictObject({ ...reachedOverHttp, ...detailed }),
    z.strictObject({ ...reachedAsFunction, ...detailed }),
  ])
  .describe('A deployment: an HTTP endpoint or a function.');

export const registrationShape = z.strictObject({
  id: z.string(),
  services: z.array(serviceShape),
  ...versions,
  info,
});

export const versionShape = z.strictObject({
  version: z.string(),
  min_admin_api_version: count,
  max_admin_api_version: count,
  ingress_endpoint: z.string(),
  features: z.record(z.string(), z.boolean()),
});

export const clusterHealthShape = z.strictObject({
  cluster_name: z.string(),
  metadata_cluster_health: z.strictObject({ members: z.array(count) }).nullable(),
});

export const restartShape = z.strictObject({ new_invocation_id: z.string() });

export const queryShape = z.strictObject({
  rows: z.array(z.record(z.string(), anyJson)),
});

export const batchShape = z
  .looseObject({
    id: z.string(),
    operation: z.string(),
    status: z.string(),
    abort_requested: z.boolean(),
    dry_run: z.boolean(),
    error: z.string().nullable(),
    created_at: time,
    ended_at: time.nullable(),
    progress: z.strictObject({
      scanned: count,
      matched: count,
      succeeded: count,
      failed: count,
      skipped: count,
    }),
    failures: z.array(z.strictObject({ invocation_id: z.string(), error: z.string() })),
  })
  .describe('An operation on many invocations, how far it is and what failed.');

export const batchListShape = z.strictObject({
  batch_operations: z.array(batchShape),
  next_cursor: z.string().nullable(),
});
