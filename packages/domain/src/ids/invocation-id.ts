/**
 * Invocation ids. In code an id is its text (`inv_1…`, 38 characters); the 24 raw bytes exist only in store keys and in
 * frames: 8 bytes partition key, 16 bytes uuid, both big-endian.
 *
 * The text is a bijection of the bytes, so two ids are equal iff their texts are. Coding costs well under a microsecond.
 */
import { EngineError } from '../error-codes.js';
import { badId, idShapeFault, type ParsedId } from './id-text.js';
import {
  BASE62_U128_DIGITS,
  BASE62_U64_DIGITS,
  readBase62,
  readLimb,
  writeBase62,
  writeLimb,
} from './base62.js';

declare const invocationIdBrand: unique symbol;
export type InvocationId = string & { readonly [invocationIdBrand]: true };

/** Length of the raw form in bytes. */
export const INVOCATION_ID_BYTES = 24;

const PREFIX = 'inv_1';
const KEY_SPAN = { start: PREFIX.length, digits: BASE62_U64_DIGITS };
const UUID_SPAN = { start: PREFIX.length + BASE62_U64_DIGITS, digits: BASE62_U128_DIGITS };
const BODY_LENGTH = BASE62_U64_DIGITS + BASE62_U128_DIGITS;

// Scratch space. Nothing in this room suspends, so one of each is enough and coding allocates only its result.
const keyLimbs = [0, 0];
const uuidLimbs = [0, 0, 0, 0];
const codes = Array.from(PREFIX.padEnd(PREFIX.length + BODY_LENGTH, '0'), (c) => c.charCodeAt(0));

/** Parses the text form. The reason of a `bad` result completes the sentence `bad invocation id '…': …`. */
export function parseInvocationId(text: string): ParsedId<InvocationId> {
  const fault = idShapeFault(text, 'inv', BODY_LENGTH);
  if (fault !== undefined) return badId(fault);
  if (!readBase62(text, KEY_SPAN, keyLimbs) || !readBase62(text, UUID_SPAN, uuidLimbs)) {
    return badId('base62 decode error');
  }
  return { kind: 'ok', id: text as InvocationId };
}

/** Parses the text form. Errors: `bad-request` with the sentence that callers are shown. */
export function requireInvocationId(text: string): InvocationId {
  const parsed = parseInvocationId(text);
  if (parsed.kind === 'ok') return parsed.id;
  throw new EngineError('bad-request', `bad invocation id '${text}': ${parsed.reason}`);
}

/** Text of the 24 bytes at `offset`. Any 24 bytes are an id; `bytes` must be long enough. */
export function invocationIdFromBytes(bytes: Uint8Array, offset = 0): InvocationId {
  if (bytes.length < offset + INVOCATION_ID_BYTES) {
    throw new RangeError(`an invocation id has ${INVOCATION_ID_BYTES.toString()} bytes`);
  }
  for (let i = 0; i < 2; i++) keyLimbs[i] = readLimb(bytes, offset + 4 * i);
  for (let i = 0; i < 4; i++) uuidLimbs[i] = readLimb(bytes, offset + 8 + 4 * i);
  writeBase62(keyLimbs, codes, KEY_SPAN);
  writeBase62(uuidLimbs, codes, UUID_SPAN);
  return String.fromCharCode(...codes) as InvocationId;
}

/** The 24 raw bytes, in a new array or written into `target` at `offset`. */
export function invocationIdToBytes(
  id: InvocationId,
  target: Uint8Array = new Uint8Array(INVOCATION_ID_BYTES),
  offset = 0,
): Uint8Array {
  readBase62(id, KEY_SPAN, keyLimbs);
  readBase62(id, UUID_SPAN, uuidLimbs);
  for (let i = 0; i < 2; i++) writeLimb(target, offset + 4 * i, keyLimbs[i] ?? 0);
  for (let i = 0; i < 4; i++) writeLimb(target, offset + 8 + 4 * i, uuidLimbs[i] ?? 0);
  return target;
}

/** The partition key as a 64-bit unsigned number. Off the hot path; routing uses `shardOfInvocation`. */
export function partitionKeyOf(id: InvocationId): bigint {
  readBase62(id, KEY_SPAN, keyLimbs);
  return (BigInt(keyHigh()) << 32n) | BigInt(keyLow());
}

/** The shard, 0 … shardCount − 1, that owns the id. No bigint is made. */
export function shardOfInvocation(id: InvocationId, shardCount: number): number {
  readBase62(id, KEY_SPAN, keyLimbs);
  return shardOfWords(keyHigh(), keyLow(), shardCount);
}

/** The shard of a partition key. */
export function shardOfPartitionKey(partitionKey: bigint, shardCount: number): number {
  const high = Number(partitionKey >> 32n);
  return shardOfWords(high, Number(partitionKey & 0xffff_ffffn), shardCount);
}

/**
 * `floor(key · shards / 2^64)` for a key in two 32-bit halves: shards are contiguous ranges of equal width.
 * Exact in doubles for up to 2^20 shards.
 */
function shardOfWords(high: number, low: number, shardCount: number): number {
  const carry = Math.floor((low * shardCount) / 2 ** 32);
  return Math.floor((high * shardCount + carry) / 2 ** 32);
}

function keyHigh(): number {
  return swapBytes(keyLimbs[0] ?? 0);
}

function keyLow(): number {
  return swapBytes(keyLimbs[1] ?? 0);
}

function swapBytes(word: number): number {
  const outer = (word << 24) | (word >>> 24);
  const inner = ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00);
  return (outer | inner) >>> 0;
}
