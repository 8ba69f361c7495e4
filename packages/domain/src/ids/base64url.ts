/** Base64 with the URL alphabet and no padding, for ids. Decoding is strict except that it tolerates padding. */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const VALUES = new Map(Array.from(ALPHABET, (digit, value) => [digit, value]));

/** Encodes `bytes` without padding. */
export function encodeBase64Url(bytes: Uint8Array): string {
  let text = '';
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0xffff;
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      text += ALPHABET[(buffer >>> bits) & 63] ?? '';
    }
  }
  if (bits > 0) text += ALPHABET[(buffer << (6 - bits)) & 63] ?? '';
  return text;
}

/** Decodes `text`; undefined if it has a foreign character, an impossible length or set bits after the last byte. */
export function decodeBase64Url(text: string): Uint8Array | undefined {
  const digits = text.replace(/={1,2}$/, '');
  if (digits.length % 4 === 1) return undefined;
  const bytes = new Uint8Array(Math.floor((digits.length * 6) / 8));
  let buffer = 0;
  let bits = 0;
  let length = 0;
  for (const digit of digits) {
    const value = VALUES.get(digit);
    if (value === undefined) return undefined;
    buffer = ((buffer << 6) | value) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[length++] = (buffer >>> bits) & 0xff;
    }
  }
  return (buffer & ((1 << bits) - 1)) === 0 ? bytes : undefined;
}
