/** HTTP/2 in its plainest form: frames, and header fields without tables or Huffman coding. */

import { concatBytes } from '@engine/stdx';

import { encodeLatin1 } from './ingress-requests.js';

export const PREFACE = encodeLatin1('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
export const TYPE = {
  data: 0,
  headers: 1,
  settings: 4,
  windowUpdate: 8,
  continuation: 9,
} as const;
/** Types that there are, and one more. */
export const TYPES_MAX = 11;
export const END_STREAM = 0x1;
export const END_HEADERS = 0x4;

/** A header field without tables. */
export function literal(name: string, value: string): Uint8Array {
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

export function frame({ type, flags, stream }: FrameHead, payload: Uint8Array): Uint8Array {
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
