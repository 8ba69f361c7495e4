/** The schema document: deployments with their services and handlers, as JSON with a version. */

import { EngineError, type DeploymentId, type Schema } from '@engine/domain';
import { decodeUtf8Strict, encodeUtf8 } from '@engine/stdx';
import { z } from 'zod';

/** Version of the document that this code writes. */
const SCHEMA_DOCUMENT_VERSION = 1;

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

const deployment = z.strictObject({
  id: z.string().transform((id) => id as DeploymentId),
  uri: z.string(),
  protocolMode: z.enum(['bidi-stream', 'request-response']),
  httpVersion: z.enum(['HTTP/1.1', 'HTTP/2.0']),
  additionalHeaders: texts,
  metadata: texts,
  createdAt: z.number(),
  minProtocolVersion: z.number(),
  maxProtocolVersion: z.number(),
  sdkVersion: maybe(z.string()),
  services: z.array(service),
});

const document = z.strictObject({
  version: z.literal(SCHEMA_DOCUMENT_VERSION),
  deployments: z.array(deployment),
});

/**
 * The bytes of the document. They are read back before they are handed out, so that nothing is stored that cannot be loaded.
 *
 * Throws EngineError `storage` for a schema that JSON cannot hold, such as one with an infinite duration
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
    throw new EngineError('storage', 'the schema cannot be written', { cause });
  }
}

/** The schema in the document. Throws EngineError `storage` when the bytes are not a document that this code reads. */
export function decodeSchema(bytes: Uint8Array): Schema {
  try {
    const { deployments } = document.parse(JSON.parse(decodeUtf8Strict(bytes)));
    return { deployments };
  } catch (cause) {
    throw new EngineError('storage', 'the schema document cannot be read', { cause });
  }
}
