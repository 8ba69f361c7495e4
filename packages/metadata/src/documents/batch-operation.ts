/**
 * The document of one batch operation: what was asked, how far it is, what came of it. Documents cannot be deleted, so there is a
 * fixed number of places for them, and a place is used again.
 */

import { EngineError, type DeploymentId, type InvocationId } from '@engine/domain';
import { decodeUtf8Strict, encodeUtf8 } from '@engine/stdx';
import { z } from 'zod';

/** Version of the document that this code writes. */
const BATCH_OPERATION_VERSION = 1;

/** Name of the document in one of the places, 0, 1, … */
export function batchOperationDocument(place: number): string {
  return `batch-operation/${String(place)}`;
}

/** What is undefined in code is left out of the document. */
function maybe<T extends z.ZodType>(type: T) {
  return type.optional().transform((value): z.output<T> | undefined => value);
}

const count = z.int().min(0);
/** Ms since the epoch. */
const timestamp = z.number().min(0);
const invocationId = z.string().transform((id) => id as InvocationId);
const deploymentId = z.string().transform((id) => id as DeploymentId);

const deployment = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('keep') }),
  z.strictObject({ kind: z.literal('latest') }),
  z.strictObject({ kind: z.literal('fixed'), deploymentId }),
]);

const operation = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(['cancel', 'kill', 'pause', 'purge', 'purge-journal']) }),
  z.strictObject({ kind: z.literal('resume'), deployment }),
  z.strictObject({ kind: z.literal('restart-as-new'), copyUpTo: count, deployment }),
]);

/** All that are set have to hold. */
const filter = z.strictObject({
  service: maybe(z.string()),
  handler: maybe(z.string()),
  key: maybe(z.string()),
  /** Words of the column `status` of `sys_invocation`; any of them. */
  statuses: maybe(z.array(z.string())),
  /** Of completed invocations. */
  result: maybe(z.enum(['success', 'failure'])),
  /** The deployment that the invocation is bound to. */
  deploymentId: maybe(deploymentId),
  /** Exclusive, both. */
  createdAfter: maybe(timestamp),
  createdBefore: maybe(timestamp),
});

const selection = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('filter'), filter }),
  z.strictObject({ kind: z.literal('ids'), ids: z.array(invocationId) }),
]);

/** What is still to be read for the next pages. */
const cursor = z.discriminatedUnion('kind', [
  /** Invocations behind this one in the order of the scan; undefined = all. */
  z.strictObject({ kind: z.literal('after'), id: maybe(invocationId) }),
  /** The ids of the selection from this index on. */
  z.strictObject({ kind: z.literal('index'), index: count }),
  z.strictObject({ kind: z.literal('end') }),
]);

const planned = z.strictObject({
  id: invocationId,
  /** Length of its journal when it was chosen: what stands behind came later. 0 = not known. */
  journalLength: count,
});

const content = z.strictObject({
  /** Sorts by the time of creation. */
  id: z.string(),
  /** Who runs it. Only the owner saves progress. */
  owner: z.string(),
  operation,
  selection,
  /** Only counts what matches. */
  isDryRun: z.boolean(),
  status: z.enum(['running', 'completed', 'aborted', 'failed']),
  isAbortRequested: z.boolean(),
  /** Why it failed as a whole; set exactly when failed. */
  reason: maybe(z.string()),
  createdAt: timestamp,
  /** Set exactly when it does not run any more. */
  endedAt: maybe(timestamp),
  cursor,
  /** Chosen and written down before anything is done to them; some of it may be done already when this is read after a crash. */
  page: z.array(planned),
  scanned: count,
  /** matched = succeeded + failed + skipped + page; a dry run has no pages and counts matches alone. */
  matched: count,
  succeeded: count,
  failed: count,
  skipped: count,
  /** The first ones. */
  failures: z.array(z.strictObject({ id: invocationId, reason: z.string() })),
});

const document = z.strictObject({ version: z.literal(BATCH_OPERATION_VERSION), batch: content });

export type BatchOperation = Readonly<z.output<typeof content>>;
export type BatchFilter = Readonly<z.output<typeof filter>>;
export type BatchSelection = Readonly<z.output<typeof selection>>;
export type BatchCursor = Readonly<z.output<typeof cursor>>;
export type PlannedInvocation = Readonly<z.output<typeof planned>>;

export function encodeBatchOperation(batch: BatchOperation): Uint8Array {
  return encodeUtf8(JSON.stringify({ version: BATCH_OPERATION_VERSION, batch }));
}

/** Throws EngineError `storage` when the bytes are not a document that this code reads. */
export function decodeBatchOperation(bytes: Uint8Array): BatchOperation {
  try {
    return document.parse(JSON.parse(decodeUtf8Strict(bytes))).batch;
  } catch (cause) {
    throw new EngineError('storage', 'the document of a batch operation cannot be read', { cause });
  }
}
