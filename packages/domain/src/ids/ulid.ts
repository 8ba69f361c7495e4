/** ULIDs as 16 big-endian bytes: 48 bits of milliseconds, then 80 random bits. Time and chance are arguments. */

/** Length of a ULID in bytes. */
export const ULID_BYTES = 16;
/** How many of them are random. */
export const ULID_RANDOM_BYTES = 10;

export interface UlidParts {
  /** Milliseconds since the epoch, below 2^48. */
  readonly timestampMs: number;
  /** Exactly `ULID_RANDOM_BYTES` bytes. */
  readonly random: Uint8Array;
}

/** Puts a ULID together. */
export function ulidBytes(parts: UlidParts): Uint8Array {
  const bytes = new Uint8Array(ULID_BYTES);
  let rest = parts.timestampMs;
  for (let i = 5; i >= 0; i--) {
    bytes[i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  bytes.set(parts.random.subarray(0, ULID_RANDOM_BYTES), 6);
  return bytes;
}

/** The time inside a ULID, in milliseconds since the epoch. */
export function ulidTimestampMs(bytes: Uint8Array): number {
  let timestampMs = 0;
  for (let i = 0; i < 6; i++) timestampMs = timestampMs * 256 + (bytes[i] ?? 0);
  return timestampMs;
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The usual 26-character text of a ULID (Crockford base 32). */
export function ulidText(bytes: Uint8Array): string {
  let text = '';
  let buffer = 0;
  let bits = 2; // 26 digits hold 130 bits: the first digit carries two leading zero bits.
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += CROCKFORD[(buffer >>> bits) & 31] ?? '';
    }
    buffer &= (1 << bits) - 1;
  }
  return text;
}
