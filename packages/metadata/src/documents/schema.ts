/** The schema document: deployments with their services and handlers, as JSON with a version. */

import { EngineError, isEngineError, type DeploymentId, type Schema } from '@engine/domain';
import { decodeUtf8Strict, encodeUtf8 } from '@engine/stdx';
import { z } from 'zod';

/** Version of the document that this code writes; it reads the one before, too. */
const SCHEMA_DOCUMENT_VERSION = 2;

/** Name of the document in the metadata store. */
export const SCHEMA_DOCUMENT = 'schema';

/** What is undefined in code is left out of the document. */
function maybe<T extends z.ZodType>(type: T) {
  return type.optional().transform((value): z.output<T> | undefined => value);
}

const texts = z.record(z.string(), z.string());
const durationMs = z.number().min(0);
const jsonSchema = z
  .unknown()
  .optional()
  .transform((value): unknown => value);

const retryPolicy = z.strictObject({
  initialIntervalMs: maybe(durationMs),
  exponentiationFactor: maybe(z.number()),
  maxIntervalMs: maybe(durationMs),
  maxAttempts: maybe(z.number()),
  onMaxAttempts: maybe(z.enum(['pause', 'kill'])),
});

const options = z.strictObject({
  inactivityTimeoutMs: maybe(durationMs),
  abortTimeoutMs: maybe(durationMs),
  journalRetentionMs: maybe(durationMs),
  idempotencyRetentionMs: maybe(durationMs),
  workflowCompletionRetentionMs: maybe(durationMs),
  enableLazyState: maybe(z.boolean()),
  retryPolicy: maybe(retryPolicy),
});

const handler = z.strictObject({
  name: z.string(),
  type: maybe(z.enum(['exclusive', 'shared', 'workflow'])),
  input: maybe(
    z.strictObject({ required: z.boolean(), contentType: maybe(z.string()), jsonSchema }),
  ),
  output: maybe(
    z.strictObject({
      contentType: maybe(z.string()),
      setContentTypeIfEmpty: z.boolean(),
      jsonSchema,
    }),
  ),
  ingressPrivate: maybe(z.boolean()),
  documentation: maybe(z.string()),
  metadata: texts,
  options,
});

const service = z.strictObject({
  name: z.string(),
  type: z.enum(['service', 'virtual-object', 'workflow']),
  revision: z.number(),
  handlers: z.array(handler),
  ingressPrivate: z.boolean(),
  documentation: maybe(z.string()),
  metadata: texts,
  options,
});

const httpEndpoint = z.strictObject({
  kind: z.literal('http'),
  uri: z.string(),
  httpVersion: z.enum(['HTTP/1.1', 'HTTP/2.0']),
});

const lambdaEndpoint = z.strictObject({
  kind: z.literal('lambda'),
  arn: z.string(),
  assumeRoleArn: maybe(z.string()),
  compression: maybe(z.literal('zstd')),
});

const deployment = z.strictObject({
  id: z.string().transform((id) => id as DeploymentId),
  endpoint: z.discriminatedUnion('kind', [httpEndpoint, lambdaEndpoint]),
  protocolMode: z.enum(['bidi-stream', 'request-response']),
  additionalHeaders: texts,
  metadata: texts,
  createdAt: z.number(),
  minProtocolVersion: z.number(),
  maxProtocolVersion: z.number(),
  sdkVersion: maybe(z.string()),
  services: z.array(service),
});

/** In version 1 every deployment was reached over HTTP. */
const deploymentV1 = deployment
  .omit({ endpoint: true })
  .extend(httpEndpoint.omit({ kind: true }).shape)
  .transform(({ uri, httpVersion, ...rest }) => ({
    ...rest,
    endpoint: { kind: 'http' as const, uri, httpVersion },
  }));

const document = z.discriminatedUnion('version', [
  z.strictObject({
    version: z.literal(SCHEMA_DOCUMENT_VERSION),
    deployments: z.array(deployment),
  }),
  z.strictObject({ version: z.literal(1), deployments: z.array(deploymentV1) }),
]);

/**
 * The bytes of the document. They are read back before they are handed out, so that nothing is stored that cannot be loaded.
 *
 * Throws EngineError META0005 for a schema that JSON cannot hold, such as one with an infinite duration
 * or one that is nested deeper than the stack holds.
 */
export function encodeSchema(schema: Schema): Uint8Array {
  const { deployments } = schema;
  const bytes = encodeUtf8(jsonOf({ version: SCHEMA_DOCUMENT_VERSION, deployments }));
  decodeSchema(bytes);
  return bytes;
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new EngineError('META0005', 'the schema cannot be written', { cause });
  }
}

/**
 * The schema in the document. Throws EngineError META0010 when a newer server wrote it, META0005 when the bytes are no document of a
 * version that this code reads.
 */
export function decodeSchema(bytes: Uint8Array): Schema {
  try {
    const json: unknown = JSON.parse(decodeUtf8Strict(bytes));
    refuseNewer(json);
    const { deployments } = document.parse(json);
    return { deployments };
  } catch (cause) {
    if (isEngineError(cause)) throw cause;
    throw new EngineError('META0005', 'the schema document cannot be read', { cause });
  }
}

function refuseNewer(json: unknown): void {
  if (typeof json !== 'object' || json === null || !('version' in json)) return;
  const { version } = json;
  if (typeof version !== 'number' || version <= SCHEMA_DOCUMENT_VERSION) return;
  throw new EngineError(
    'META0010',
    `the schema document has version ${String(version)}; ` +
      `this server reads up to ${String(SCHEMA_DOCUMENT_VERSION)}`,
  );
}
