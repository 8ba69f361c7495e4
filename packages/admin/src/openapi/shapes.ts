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
    engine_code: z
      .string()
      .nullable()
      .optional()
      .describe('Documented code; `overloaded` or `unavailable` for what passes; or null.'),
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

export const ordersShape = z
  .strictObject({
    drained: z.array(z.string()).describe('Workers that shall lead and follow nothing.'),
    pins: z.array(z.strictObject({ partition: count, node: z.string() })),
    is_frozen: z.boolean().describe('Nothing is moved, not even away from dead workers.'),
  })
  .describe('What operators ask of placement; it holds until it is taken back.');

const bigCount = z.string().regex(/^\d+$/).describe('A number of up to 64 bits.');

export const clusterShape = z
  .strictObject({
    cluster_name: z.string(),
    is_cluster: z.boolean().describe('False: one process with all roles.'),
    answered_by: z.string().describe('Node whose view this is.'),
    controller: z.string().nullable().describe('Admin that decides; null: nobody does now.'),
    format_version: count,
    table_version: count.nullable().describe('Null: no partition was ever placed.'),
    orders: ordersShape,
    alarms: z.array(
      z.strictObject({
        kind: z.enum(['workers-silent', 'tail-lost', 'quarantined', 'stuck']),
        message: z.string(),
        nodes: z.array(z.string()),
        partition: count.nullable(),
        at: time.nullable(),
      }),
    ),
    nodes: z.array(
      z.strictObject({
        id: z.string(),
        incarnation: count,
        roles: z.array(z.enum(['ingress', 'admin', 'worker'])),
        addresses: z.strictObject({
          internal: z.string(),
          ingress: z.string().nullable(),
          admin: z.string().nullable(),
        }),
        zone: z.string().nullable(),
        version: z.string(),
        liveness: z
          .enum(['alive', 'stale', 'refused', 'gone', 'unknown'])
          .describe('`gone`: it ended or was counted dead. `unknown`: this admin cannot tell now.'),
        is_leaving: z.boolean(),
        is_drained: z.boolean(),
        leads: count,
        follows: count,
      }),
    ),
    partitions: z.array(
      z.strictObject({
        id: count,
        leader: z.string().nullable(),
        epoch: bigCount,
        standbys: z.array(z.string()),
        pinned_to: z.string().nullable(),
        replicas: z.array(
          z.strictObject({
            node: z.string(),
            phase: z.enum([
              'idle',
              'follower',
              'candidate',
              'announcing',
              'rebuilding',
              'leader',
              'stepping-down',
              'quarantined',
            ]),
            epoch: bigCount,
            log_epoch: bigCount,
            applied: bigCount.describe('Last record applied.'),
            lag: bigCount.nullable().describe('Records behind the leader.'),
            is_caught_up: z.boolean(),
            is_stuck: z.boolean(),
            fault: z
              .enum(['ahead', 'other-branch', 'other-incarnation', 'tail-lost', 'format', 'clock'])
              .nullable(),
          }),
        ),
      }),
    ),
  })
  .describe('The cluster, as the admin that answers knows it.');

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
