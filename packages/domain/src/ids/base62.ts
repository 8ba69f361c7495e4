/**
 * Fixed-width base62 of 64- and 128-bit numbers, as the public ids write them.
 *
 * The number that is written is the byte-reversed one: the bytes of a big-endian number are read as a little-endian
 * number and that is written most significant digit first, left-padded with `0`. So the limbs below are little-endian
 * 32-bit words, lowest first, in the order of the bytes.
 *
 * Plain number arithmetic: a 32-bit limb times 62³ (18 bits) stays below 2^53, so three digits move per pass.
 */
const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const LIMB = 2 ** 32;
const CHUNK_DIGITS = 3;
const CHUNK = 62 ** CHUNK_DIGITS;

/** Width of a 64-bit number in digits. */
export const BASE62_U64_DIGITS = 11;
/** Width of a 128-bit number in digits. */
export const BASE62_U128_DIGITS = 22;

const DIGIT_CODES = Uint8Array.from(ALPHABET, (digit) => digit.charCodeAt(0));
const NOT_A_DIGIT = 255;
const DIGIT_VALUES = new Uint8Array(128).fill(NOT_A_DIGIT);
DIGIT_CODES.forEach((code, value) => {
  DIGIT_VALUES[code] = value;
});

/** Reads the little-endian 32-bit word at `offset`; missing bytes count as zero. */
export function readLimb(bytes: Uint8Array, offset: number): number {
  const low = (bytes[offset] ?? 0) | ((bytes[offset + 1] ?? 0) << 8);
  const high = ((bytes[offset + 2] ?? 0) << 16) | ((bytes[offset + 3] ?? 0) << 24);
  return (low | high) >>> 0;
}

/** Writes `limb` as a little-endian 32-bit word at `offset`. */
export function writeLimb(bytes: Uint8Array, offset: number, limb: number): void {
  bytes[offset] = limb;
  bytes[offset + 1] = limb >>> 8;
  bytes[offset + 2] = limb >>> 16;
  bytes[offset + 3] = limb >>> 24;
}

/** Where the digits of one number go, or come from. */
export interface DigitSpan {
  readonly start: number;
  readonly digits: number;
}

/**
 * Writes the number in `limbs` as character codes into `codes`.
 *
 * Effects: `limbs` is used as scratch space and is zero afterwards if the number fits the span.
 */
export function writeBase62(limbs: number[], codes: number[], span: DigitSpan): void {
  let position = span.start + span.digits;
  let top = limbs.length - 1;
  while (position > span.start) {
    while (top >= 0 && limbs[top] === 0) top--;
    let remainder = 0;
    for (let i = top; i >= 0; i--) {
      const value = remainder * LIMB + (limbs[i] ?? 0);
      const quotient = Math.floor(value / CHUNK);
      limbs[i] = quotient;
      remainder = value - quotient * CHUNK;
    }
    for (let digit = 0; digit < CHUNK_DIGITS && position > span.start; digit++) {
      position--;
      codes[position] = DIGIT_CODES[remainder % 62] ?? 0;
      remainder = Math.floor(remainder / 62);
    }
  }
}

/**
 * Reads the digits of `text` in `span` into `limbs`, all of which are overwritten.
 *
 * Returns false if a character is no digit or the number does not fit the limbs; `limbs` is then meaningless.
 */
export function readBase62(text: string, span: DigitSpan, limbs: number[]): boolean {
  limbs.fill(0);
  const end = span.start + span.digits;
  let position = span.start;
  while (position < end) {
    let chunk = 0;
    let scale = 1;
    for (let digit = 0; digit < CHUNK_DIGITS && position < end; digit++, position++) {
      const value = DIGIT_VALUES[text.charCodeAt(position)] ?? NOT_A_DIGIT;
      if (value === NOT_A_DIGIT) return false;
      chunk = chunk * 62 + value;
      scale *= 62;
    }
    if (!multiplyAdd(limbs, scale, chunk)) return false;
  }
  return true;
}

function multiplyAdd(limbs: number[], factor: number, addend: number): boolean {
  let carry = addend;
  for (let i = 0; i < limbs.length; i++) {
    const value = (limbs[i] ?? 0) * factor + carry;
    carry = Math.floor(value / LIMB);
    limbs[i] = value - carry * LIMB;
  }
  return carry === 0;
}
