const encoder = new TextEncoder();
// A leading byte order mark is part of the text: what was encoded comes back as it was.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const EMPTY_BYTES: Uint8Array = new Uint8Array(0);

export function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Bytes that are no UTF-8 come out as U+FFFD; for text that goes to a log or an error message. */
export function decodeUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** Throws TypeError when the bytes are not UTF-8; for text that decides something. */
export function decodeUtf8Strict(bytes: Uint8Array): string {
  return strictDecoder.decode(bytes);
}

/** One copy of every part. A single part is returned as it is. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (only === undefined) return EMPTY_BYTES;
  if (parts.length === 1) return only;
  let length = 0;
  for (const part of parts) length += part.length;
  const all = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    all.set(part, offset);
    offset += part.length;
  }
  return all;
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
}

/** The order of keys in every store: byte by byte, a prefix before its extension. Negative, zero or positive. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

export function startsWithBytes(bytes: Uint8Array, prefix: Uint8Array): boolean {
  if (bytes.length < prefix.length) return false;
  for (let i = 0; i < prefix.length; i += 1) if (bytes[i] !== prefix[i]) return false;
  return true;
}
