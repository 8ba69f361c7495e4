import { assert } from './assert.js';

const digits: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0'),
);

/** Lower case, two digits a byte. */
export function toHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += digits[byte] ?? '';
  return text;
}

/** Either case. Throws AssertionError when the text has an odd length or another character. */
export function fromHex(text: string): Uint8Array {
  assert(text.length % 2 === 0 && /^[0-9a-fA-F]*$/.test(text), 'not hexadecimal text');
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i += 1) {
    bytes[i] = Number.parseInt(text.slice(i * 2, i * 2 + 2), 16);
  }
  return bytes;
}
