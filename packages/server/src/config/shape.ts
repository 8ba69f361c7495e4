// Every key there is, with its default: the one list that the reader, --dump-config and the documentation agree on.
// Keys are written with dashes; underscores are read as dashes.
import { DEFAULT_RETRY_POLICY, formatDuration, limits, PARTITION_COUNT_MAX } from '@engine/domain';
import { z } from 'zod';
import {
  bindAddress,
  byteCount,
  countOrUnlimited,
  duration,
  factor,
  integer,
  logFilter,
  logLevel,
  name,
  roles,
  ROLES,
} from './fields.js';

const COUNT_MAX = Number.MAX_SAFE_INTEGER;
const port = (standard: number) => integer({ min: 0, max: 65_535 }).prefault(standard);
const positive = (standard: string) => duration({ zero: false }).prefault(standard);
const fromZero = (standard: string) => duration({ zero: true }).prefault(standard);
/** A table whose keys all have defaults may be left out. */
const table = <T extends z.core.$ZodLooseShape>(shape: T) =>
  z.strictObject(shape).prefault({} as never);

const ingress = table({
  'bind-ip': z.string().optional(),
  'bind-port': port(8080),
  'bind-address': bindAddress().optional(),
  'request-size-limit': byteCount().prefault(limits.MESSAGE_SIZE_BYTES_MAX),
  'concurrent-api-requests-limit': countOrUnlimited().prefault('unlimited'),
});

const admin = table({
  'bind-ip': z.string().optional(),
  'bind-port': port(9070),
  'bind-address': bindAddress().optional(),
});

const invoker = table({
  'inactivity-timeout': fromZero('1m'),
  'abort-timeout': fromZero('10m'),
  'message-size-limit': byteCount().prefault(limits.MESSAGE_SIZE_BYTES_MAX),
  'concurrent-invocations-limit': integer({ min: 1, max: COUNT_MAX }).prefault(
    limits.CONCURRENT_INVOCATIONS_MAX,
  ),
  'eager-state-size-limit': byteCount().prefault(limits.MESSAGE_SIZE_BYTES_MAX),
});

const worker = table({
  'cleanup-interval': positive('1h'),
  'storage-rocksdb': table({ path: z.string().min(1).optional() }),
  invoker,
});

const retryPolicy = table({
  'initial-interval': positive(formatDuration(DEFAULT_RETRY_POLICY.initialIntervalMs)),
  'exponentiation-factor': factor().prefault(DEFAULT_RETRY_POLICY.exponentiationFactor),
  'max-interval': positive(formatDuration(DEFAULT_RETRY_POLICY.maxIntervalMs)),
  'max-attempts': countOrUnlimited().prefault(DEFAULT_RETRY_POLICY.maxAttempts ?? 'unlimited'),
  'on-max-attempts': z.enum(['pause', 'kill']).prefault(DEFAULT_RETRY_POLICY.onMaxAttempts),
});

export const shape = z.strictObject({
  roles: roles().prefault([...ROLES]),
  'node-name': name().prefault('node-1'),
  'cluster-name': name().prefault('localcluster'),
  'base-dir': z.string().min(1).prefault('./engine-data'),
  'default-num-partitions': integer({ min: 1, max: PARTITION_COUNT_MAX }).prefault(1),
  'bind-ip': z.string().prefault('[::]'),
  'shutdown-timeout': positive('1m'),
  'log-level': logLevel().prefault('info'),
  'log-filter': logFilter().optional(),
  'log-format': z.enum(['pretty', 'compact', 'json']).prefault('pretty'),
  'default-journal-retention': fromZero('1d'),
  'default-idempotency-retention': fromZero('1d'),
  'default-workflow-completion-retention': fromZero('1d'),
  ingress,
  admin,
  worker,
  meta: table({ 'storage-path': z.string().min(1).optional() }),
  'default-retry-policy': retryPolicy,
});
