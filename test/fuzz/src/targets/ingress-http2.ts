/** HTTP/2 connections as bytes: the preface, then frames in a sane or any order, headers in the plainest coding. */

import { concatBytes } from '@engine/stdx';

import type { Chance } from '../chance.js';
import { encodeLatin1, pathOf } from './ingress-requests.js';

const PREFACE = encodeLatin1('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const TYPE = { data: 0, headers: 1, settings: 4, windowUpdate: 8, continuation: 9 } as const;
const TYPES_MAX = 11;
const END_STREAM = 0x1;
const END_HEADERS = 0x4;

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

function literal(name: string, value: string): Uint8Array {
  return concatBytes([Uint8Array.of(0), hpackText(name), hpackText(value)]);
}

/** Length with a prefix of seven bits, no Huffman coding. */
function hpackText(text: string): Uint8Array {
  const bytes = encodeLatin1(text);
  const head: number[] = [];
  if (bytes.length < 127) {
    head.push(bytes.length);
  } else {
    head.push(127);
    let rest = bytes.length - 127;
    for (; rest >= 128; rest = rest >>> 7) head.push((rest & 0x7f) | 0x80);
    head.push(rest);
  }
  return concatBytes([Uint8Array.from(head), bytes]);
}

interface FrameHead {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
}

function frame({ type, flags, stream }: FrameHead, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(9 + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, payload.length >>> 16);
  view.setUint16(1, payload.length & 0xffff);
  view.setUint8(3, type);
  view.setUint8(4, flags);
  view.setUint32(5, stream);
  bytes.set(payload, 9);
  return bytes;
}
