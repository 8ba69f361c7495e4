/** The version of a state: what people compare who want to replace exactly the state that they have seen (interface §4.2). */

import { encodeBase64Url, type StateEntry } from '@engine/domain';
import { compareBytes, concatBytes, encodeUtf8 } from '@engine/stdx';

const KEY = Uint8Array.of(1);
const VALUE = Uint8Array.of(2);
const END = Uint8Array.of(3);

/**
 * SHA-256 over all entries in the order of their key bytes, as URL-safe base64 without padding: 43 characters. Each entry counts
 * as its position (64 bits, big-endian), 1, key, 2, value, 3. The order of `entries` does not matter; keys must be distinct.
 */
export function stateVersion(
  entries: readonly StateEntry[],
  sha256: (bytes: Uint8Array) => Uint8Array,
): string {
  const sorted = entries
    .map(({ key, value }) => ({ key: encodeUtf8(key), value }))
    .sort((a, b) => compareBytes(a.key, b.key));
  const parts = sorted.flatMap(({ key, value }, index) => [
    position(index),
    KEY,
    key,
    VALUE,
    value,
    END,
  ]);
  return encodeBase64Url(sha256(concatBytes(parts)));
}

function position(index: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(index));
  return bytes;
}
