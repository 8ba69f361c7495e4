/** HTTP/2 connections as bytes: the preface, then frames in a sane or any order, headers in the plainest coding. */

import { concatBytes } from '@engine/stdx';

import type { Chance } from '../chance.js';
import {
  END_HEADERS,
  END_STREAM,
  frame,
  literal,
  PREFACE,
  TYPE,
  TYPES_MAX,
} from './http2-frames.js';
import { pathOf } from './ingress-requests.js';

export function http2Connection(chance: Chance): Uint8Array {
  const parts = [PREFACE, frame({ type: TYPE.settings, flags: 0, stream: 0 }, new Uint8Array(0))];
  const count = chance.between(1, 5);
  for (let i = 0; i < count; i += 1) parts.push(...streamFrames(chance, 1 + 2 * i));
  return concatBytes(parts);
}

function streamFrames(chance: Chance, stream: number): Uint8Array[] {
  if (chance.yes(0.2)) return [oddFrame(chance, stream)];
  const hasBody = chance.yes();
  const flags = END_HEADERS | (hasBody ? 0 : END_STREAM);
  const head = frame({ type: TYPE.headers, flags, stream }, headerBlock(chance));
  if (!hasBody) return [head];
  const body = frame(
    { type: TYPE.data, flags: END_STREAM, stream },
    chance.bytes(chance.length(500)),
  );
  return [head, body];
}

function oddFrame(chance: Chance, stream: number): Uint8Array {
  const type = chance.below(TYPES_MAX);
  const head = {
    type,
    flags: chance.u32() & 0xff,
    stream: chance.yes(0.6) ? stream : chance.number(),
  };
  const payload =
    type === TYPE.headers || type === TYPE.continuation
      ? headerBlock(chance)
      : chance.bytes(chance.length(40));
  return frame(head, payload);
}

/** HPACK without tables: two indexed pseudo headers, everything else as literals. */
function headerBlock(chance: Chance): Uint8Array {
  const method = chance.pick([0x82, 0x83, 0x83, 0x83]);
  const scheme = 0x86;
  const parts = [Uint8Array.of(method, scheme), literal(':path', pathOf(chance))];
  // Without it nothing gets past the parser.
  if (chance.yes(0.97)) parts.push(literal(':authority', 'engine'));
  const names = [
    'content-type',
    'idempotency-key',
    'origin',
    'content-length',
    'x-custom',
    'Upper',
    ':path',
    'te',
  ];
  const count = chance.below(5);
  for (let i = 0; i < count; i += 1) {
    const isSane = chance.yes(0.8);
    const value = isSane
      ? 'application/json'
      : String.fromCharCode(...chance.bytes(chance.length(30)));
    parts.push(literal(chance.pick(names), chance.yes(0.1) ? String(chance.number()) : value));
  }
  return concatBytes(parts);
}
