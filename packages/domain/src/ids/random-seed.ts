/**
 * The seed of an invocation's deterministic randomness: SipHash-1-3 with zero keys over the id's length and bytes.
 * It never changes between attempts, which is all that SDKs ask of it.
 */
import { INVOCATION_ID_BYTES, invocationIdToBytes, type InvocationId } from './invocation-id.js';
import { readLimb } from './base62.js';

/** A 64-bit word in two unsigned halves. */
interface Word {
  high: number;
  low: number;
}

type State = readonly [Word, Word, Word, Word];

/** The 64-bit seed that an attempt's start message carries. */
export function randomSeedOf(id: InvocationId): bigint {
  const bytes = invocationIdToBytes(id);
  const state: State = [
    { high: 0x736f6d65, low: 0x70736575 },
    { high: 0x646f7261, low: 0x6e646f6d },
    { high: 0x6c796765, low: 0x6e657261 },
    { high: 0x74656462, low: 0x79746573 },
  ];
  absorb(state, 0, INVOCATION_ID_BYTES);
  for (let offset = 0; offset < INVOCATION_ID_BYTES; offset += 8) {
    absorb(state, readLimb(bytes, offset + 4), readLimb(bytes, offset));
  }
  // The last word holds the message length modulo 256 in its top byte; the message is a whole number of words.
  absorb(state, ((INVOCATION_ID_BYTES + 8) << 24) >>> 0, 0);
  state[2].low = (state[2].low ^ 0xff) >>> 0;
  for (let round = 0; round < 3; round++) sipRound(state);
  const [v0, v1, v2, v3] = state;
  const high = (v0.high ^ v1.high ^ v2.high ^ v3.high) >>> 0;
  const low = (v0.low ^ v1.low ^ v2.low ^ v3.low) >>> 0;
  return (BigInt(high) << 32n) | BigInt(low);
}

function absorb(state: State, high: number, low: number): void {
  const [v0, , , v3] = state;
  v3.high = (v3.high ^ high) >>> 0;
  v3.low = (v3.low ^ low) >>> 0;
  sipRound(state);
  v0.high = (v0.high ^ high) >>> 0;
  v0.low = (v0.low ^ low) >>> 0;
}

function sipRound([v0, v1, v2, v3]: State): void {
  add(v0, v1);
  rotate(v1, 13);
  xor(v1, v0);
  rotate(v0, 32);
  add(v2, v3);
  rotate(v3, 16);
  xor(v3, v2);
  add(v0, v3);
  rotate(v3, 21);
  xor(v3, v0);
  add(v2, v1);
  rotate(v1, 17);
  xor(v1, v2);
  rotate(v2, 32);
}

function add(target: Word, other: Word): void {
  const low = target.low + other.low;
  const carry = low > 0xffff_ffff ? 1 : 0;
  target.low = low >>> 0;
  target.high = (target.high + other.high + carry) >>> 0;
}

function xor(target: Word, other: Word): void {
  target.high = (target.high ^ other.high) >>> 0;
  target.low = (target.low ^ other.low) >>> 0;
}

function rotate(word: Word, bits: number): void {
  const { high, low } = word;
  if (bits === 32) {
    word.high = low;
    word.low = high;
    return;
  }
  word.high = ((high << bits) | (low >>> (32 - bits))) >>> 0;
  word.low = ((low << bits) | (high >>> (32 - bits))) >>> 0;
}
