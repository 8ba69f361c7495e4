/** What a lease says: a document whose every change is a sign of life. */

import { EngineError, type NodeId } from '@engine/domain';
import { decodeUtf8, encodeUtf8 } from '@engine/stdx';
import { z } from 'zod';

/** All leases, and nothing else, have names in the store that begin with it. */
export const LEASE_PREFIX = 'lease/';

/** Name of the controller's lease, below LEASE_PREFIX. */
export const CONTROLLER_LEASE = 'controller';

/** Names of the leases of nodes, below LEASE_PREFIX. */
export const NODE_LEASE_PREFIX = 'node/';

/** Name of the lease of a node, below LEASE_PREFIX. */
export function nodeLease(id: NodeId): string {
  return NODE_LEASE_PREFIX + id;
}

const document = z.strictObject({
  format: z.literal(1),
  /** Who holds it: one life of one process, never used again. */
  holder: z.string(),
  ttlMs: z.int().min(1),
  /** Makes every renewal a change. */
  renewals: z.int(),
  /** An explicit goodbye: free at once. */
  isGone: z.boolean(),
  /** What the holder tells the others, such as its addresses. */
  note: z.string(),
});

export type LeaseDocument = Readonly<Omit<z.infer<typeof document>, 'format'>>;

export function encodeLease(lease: LeaseDocument): Uint8Array {
  return encodeUtf8(JSON.stringify({ format: 1, ...lease }));
}

/** Throws EngineError `storage` when the bytes are no lease. */
export function decodeLease(bytes: Uint8Array): LeaseDocument {
  try {
    const { holder, ttlMs, renewals, isGone, note } = document.parse(JSON.parse(decodeUtf8(bytes)));
    return { holder, ttlMs, renewals, isGone, note };
  } catch (cause) {
    throw new EngineError('storage', 'a lease cannot be read', { cause });
  }
}
