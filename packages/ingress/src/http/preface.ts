/** The first bytes of a connection: which HTTP is spoken on it. */

import type { Socket } from 'node:net';

export type HttpVersion = 1 | 2;

const HTTP2_PREFACE = Buffer.from('PRI * HTTP/2.0');
const LINE_FEED = 0x0a;
const ASCII_MAX = 0x7f;

/**
 * Calls `onKnown` once, as soon as the bytes decide, with everything read so far. The socket is then paused. Never calls
 * when the connection ends before.
 */
export function readPreface(
  socket: Socket,
  onKnown: (version: HttpVersion, bytes: Buffer) => void,
): void {
  let bytes: Buffer | undefined;
  const onData = (chunk: Buffer): void => {
    bytes = bytes === undefined ? chunk : Buffer.concat([bytes, chunk]);
    const length = Math.min(bytes.length, HTTP2_PREFACE.length);
    const isPreface = bytes.compare(HTTP2_PREFACE, 0, length, 0, length) === 0;
    if (isPreface && length < HTTP2_PREFACE.length) return;
    socket.off('data', onData);
    socket.pause();
    onKnown(isPreface ? 2 : 1, bytes);
  };
  socket.on('data', onData);
}

/**
 * Percent-encodes what is not ASCII in the first line. The platform's parser refuses raw UTF-8 in a request target, which
 * clients send in keys; this lets it pass in the first request of a connection, which is where hand-written clients send it.
 */
export function escapeRequestLine(bytes: Buffer): Buffer {
  const end = bytes.indexOf(LINE_FEED);
  const line = end < 0 ? bytes : bytes.subarray(0, end);
  if (!line.some((byte) => byte > ASCII_MAX)) return bytes;
  const escaped = Array.from(line, (byte) =>
    byte > ASCII_MAX ? `%${byte.toString(16).toUpperCase()}` : String.fromCharCode(byte),
  ).join('');
  return Buffer.concat([Buffer.from(escaped, 'latin1'), bytes.subarray(line.length)]);
}
