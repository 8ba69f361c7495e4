// Every key there is, with its default and its meaning: the one list that the reader, --dump-config and docs/configuration.md
// agree on.
// Keys are written with dashes; underscores are read as dashes.
import {
  DEFAULT_RETRY_POLICY,
  formatDuration,
  limits,
  PARTITION_COUNT_MAX,
  ROLES,
} from '@engine/domain';
import { COMPRESSION_THRESHOLD_BYTES } from '@engine/lambda';
import { EXPIRATION_MS_MIN } from '@engine/request-identity';
import { z } from 'zod';
import * as cluster from './cluster-shape.js';
import {
  bindAddress,
  byteCount,
  countOrUnlimited,
  duration,
  factor,
  headerNames,
  integer,
  logFilter,
  logLevel,
  name,
  roles,
  signingKeyFile,
} from './fields.js';

const COUNT_MAX = Number.MAX_SAFE_INTEGER;
const port = (standard: number) => integer({ min: 0, max: 65_535 }).prefault(standard);
const positive = (standard: string) => duration({ zero: false }).prefault(standard);
const fromZero = (standard: string) => duration({ zero: true }).prefault(standard);
const upTo = () => duration({ zero: true }).optional();
/** A table whose keys all have defaults may be left out. */
const table = <T extends z.core.$ZodLooseShape>(shape: T) =>
  z.strictObject(shape).prefault({} as never);

const ingress = table({
  'bind-ip': z.string().optional().describe('Address to listen on; else the common `bind-ip`.'),
  'bind-port': port(8080).describe('0 = any free port.'),
  'bind-address': bindAddress().optional().describe('Address and port in one; wins over both.'),
  'advertised-address': z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Where callers reach the ingress, as the admin shows it; else host and port.'),
  'request-size-limit': byteCount()
    .prefault(limits.MESSAGE_SIZE_BYTES_MAX)
    .describe('Largest body of a request.'),
  'concurrent-api-requests-limit': countOrUnlimited()
    .prefault('unlimited')
    .describe('Requests in progress at once; more are answered 429.'),
  'leader-wait': positive('1m').describe(
    'How long a request waits for a partition that has no leader (503 then); at most 4 minutes.',
  ),
});

const admin = table({
  'bind-ip': z.string().optional().describe('Address to listen on; else the common `bind-ip`.'),
  'bind-port': port(9070).describe('0 = any free port.'),
  'bind-address': bindAddress().optional().describe('Address and port in one; wins over both.'),
  'concurrent-api-requests-limit': countOrUnlimited()
    .prefault('unlimited')
    .describe('Requests in progress at once; more are answered 429.'),
  'deployment-routing-headers': headerNames()
    .prefault([])
    .describe('Names of headers that tell deployments with the same address apart.'),
});

const invoker = table({
  'inactivity-timeout': fromZero('1m').describe(
    'Silence after which a handler is asked to suspend; 0 = at once.',
  ),
  'abort-timeout': fromZero('10m').describe(
    'Further silence after which the attempt is cut off (RT0001).',
  ),
  'message-size-limit': byteCount()
    .prefault(limits.MESSAGE_SIZE_BYTES_MAX)
    .describe('Largest message of a deployment (RT0003).'),
  'concurrent-invocations-limit': integer({ min: 1, max: COUNT_MAX })
    .prefault(limits.CONCURRENT_INVOCATIONS_MAX)
    .describe('Attempts that run at once, per partition.'),
  'memory-limit': byteCount()
    .prefault(limits.PAYLOAD_MEMORY_BYTES_MAX)
    .describe('Large payloads that attempts hold in memory, in all; beyond it they wait for room.'),
  'per-invocation-memory-limit': byteCount()
    .optional()
    .describe('Journal and state that one attempt is given (RT0001); unless set, `memory-limit`.'),
  'eager-state-size-limit': byteCount()
    .optional()
    .describe(
      'State that an attempt gets without asking, in all; 0 = none. At most, and unless set, `message-size-limit`.',
    ),
  'request-identity-private-key-pem-file': signingKeyFile()
    .optional()
    .describe('File with an Ed25519 private key (PKCS#8, PEM) that signs requests to deployments.'),
  'request-identity-expiration': duration({ zero: false, minMs: EXPIRATION_MS_MIN })
    .prefault('1m')
    .describe('How long a signature is good, before and after its making.'),
  'request-compression-threshold': byteCount()
    .prefault(COMPRESSION_THRESHOLD_BYTES)
    .describe(
      'Requests to functions from this size on are compressed, if the function can unpack.',
    ),
  'aws-profile': z
    .string()
    .min(1)
    .optional()
    .describe('Profile of the AWS configuration files; else what the AWS SDK finds.'),
  'aws-assume-role-external-id': z
    .string()
    .min(1)
    .optional()
    .describe('External id said when a role is taken on. Also `AWS_EXTERNAL_ID`.'),
});

const worker = table({
  'cleanup-interval': positive('1h').describe(
    'Accepted and without effect: what has expired goes when it expires.',
  ),
  'storage-rocksdb': table({
    path: z.string().min(1).optional().describe('Directory of the partitions.'),
  }),
  snapshots: table(cluster.snapshots),
  invoker,
});

const retryPolicy = table({
  'initial-interval': positive(formatDuration(DEFAULT_RETRY_POLICY.initialIntervalMs)).describe(
    'Wait before the first retry.',
  ),
  'exponentiation-factor': factor()
    .prefault(DEFAULT_RETRY_POLICY.exponentiationFactor)
    .describe('By how much each wait is longer than the one before.'),
  'max-interval': positive(formatDuration(DEFAULT_RETRY_POLICY.maxIntervalMs)).describe(
    'Longest wait.',
  ),
  'max-attempts': countOrUnlimited()
    .prefault(DEFAULT_RETRY_POLICY.maxAttempts ?? 'unlimited')
    .describe('Attempts, the first one included: 1 = no retry. Or `unlimited`, also `infinite`.'),
  'on-max-attempts': z
    .enum(['pause', 'kill'])
    .prefault(DEFAULT_RETRY_POLICY.onMaxAttempts)
    .describe('After the last attempt: `pause` until somebody resumes, or `kill` = end as failed.'),
});

export const shape = z.strictObject({
  roles: roles()
    .prefault([...ROLES])
    .describe('What this process does.'),
  'node-name': name().prefault('node-1').describe('Names the directory below `base-dir`.'),
  'cluster-name': name()
    .prefault('localcluster')
    .describe('Sent to deployments with each request.'),
  'base-dir': z.string().min(1).prefault('./engine-data').describe('Where data are kept.'),
  'default-num-partitions': integer({ min: 1, max: PARTITION_COUNT_MAX })
    .optional()
    .describe('Partitions; fixed by the first start. Unless set 1, and 24 in a cluster.'),
  'bind-ip': z.string().prefault('[::]').describe('Address to listen on, for every role.'),
  ...cluster.node,
  'shutdown-timeout': positive('1m').describe('How long a stop may take.'),
  'log-level': logLevel().prefault('info').describe('`trace` … `fatal`, or `silent`.'),
  'log-filter': logFilter().optional().describe('Levels by part, such as `info,worker=debug`.'),
  'log-format': z
    .enum(['pretty', 'compact', 'json'])
    .prefault('pretty')
    .describe('How lines look.'),
  'default-journal-retention': fromZero('1d').describe(
    'How long journals are kept after the end, where nobody else says so; 0 = not at all.',
  ),
  'max-journal-retention': upTo().describe('Upper bound; more is shortened (RT0022).'),
  'default-idempotency-retention': fromZero('1d').describe(
    'How long results of requests with an idempotency key are kept.',
  ),
  'max-idempotency-retention': upTo().describe('Upper bound; more is shortened (RT0022).'),
  'default-workflow-completion-retention': fromZero('1d').describe(
    'How long results, state and promises of workflows are kept.',
  ),
  'max-workflow-completion-retention': upTo().describe('Upper bound; more is shortened (RT0022).'),
  'max-retry-policy-max-attempts': countOrUnlimited()
    .prefault('unlimited')
    .describe(
      'Upper bound of attempts when retries are decided; services still show what they ask for.',
    ),
  ingress,
  admin,
  worker,
  meta: table({
    'storage-path': z.string().min(1).optional().describe('Directory of the metadata.'),
  }),
  'default-retry-policy': retryPolicy,
  nats: table(cluster.nats),
  tls: table(cluster.tls),
  networking: table(cluster.networking),
});
