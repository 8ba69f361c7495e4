/** What a lease says: a document whose every change is a sign of life. */

import { EngineError } from '@engine/domain';
import { decodeUtf8, encodeUtf8 } from '@engine/stdx';
import { z } from 'zod';

export const LEASE_PREFIX = 'lease/';

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
