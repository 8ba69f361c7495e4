/** Reads a whole request body. With a length known beforehand it costs one buffer, and none when it comes in one piece. */

import { concatBytes, EMPTY_BYTES } from '@engine/stdx';
import type { Exchange } from './exchange.js';
import { failExchange, respondOverloaded } from './answers.js';
import { SMALL_BODY_BYTES_MAX } from './body-budget.js';

/**
 * Calls `onBody` once with the body, or with undefined as soon as it grows past `bytesMax`; the rest is then thrown away as it
 * arrives. Never calls when the client goes away first, nor when there is no memory for the body: that is answered here (429).
 * What `onBody` throws becomes a 500.
 */
export function readBody(
  exchange: Exchange,
  bytesMax: number,
  onBody: (body: Uint8Array | undefined) => void,
): void {
  const { contentLength, isChunked } = exchange.head;
  const hasBody = exchange.isHttp2
    ? !endsWithHead(exchange)
    : isChunked || contentLength !== undefined;
  if (!hasBody || contentLength === 0) {
    finish(exchange, EMPTY_BYTES, onBody);
  } else if (contentLength === undefined || isChunked || Number.isNaN(contentLength)) {
    readUnknownLength(exchange, bytesMax, onBody);
  } else if (contentLength > SMALL_BODY_BYTES_MAX && !exchange.claimBody(contentLength)) {
    respondOverloaded(exchange);
  } else {
    readKnownLength(exchange, contentLength, onBody);
  }
}

function readKnownLength(
  exchange: Exchange,
  length: number,
  onBody: (body: Uint8Array | undefined) => void,
): void {
  let buffer: Buffer | undefined;
  let received = 0;
  exchange.request.on('data', (chunk: Buffer) => {
    if (received === 0 && chunk.length === length) {
      received = length;
      finish(exchange, chunk, onBody);
      return;
    }
    if (received + chunk.length > length) return;
    buffer ??= Buffer.allocUnsafeSlow(length);
    buffer.set(chunk, received);
    received += chunk.length;
    if (received === length) finish(exchange, buffer, onBody);
  });
}

function readUnknownLength(
  exchange: Exchange,
  bytesMax: number,
  onBody: (body: Uint8Array | undefined) => void,
): void {
  const { request } = exchange;
  let chunks: Uint8Array[] = [];
  let received = 0;
  let claimed = SMALL_BODY_BYTES_MAX;
  let isOver = false;
  request.on('data', (chunk: Buffer) => {
    if (isOver) return;
    received += chunk.length;
    if (received > bytesMax) {
      isOver = true;
      chunks = [];
      finish(exchange, undefined, onBody);
      return;
    }
    if (received > claimed) {
      if (!exchange.claimBody(received - claimed)) {
        isOver = true;
        chunks = [];
        respondOverloaded(exchange);
        return;
      }
      claimed = received;
    }
    chunks.push(chunk);
  });
  request.on('end', () => {
    if (!isOver) finish(exchange, concatBytes(chunks), onBody);
  });
}

function endsWithHead(exchange: Exchange): boolean {
  const { request } = exchange;
  return 'stream' in request && request.stream.endAfterHeaders;
}

function finish(
  exchange: Exchange,
  body: Uint8Array | undefined,
  onBody: (body: Uint8Array | undefined) => void,
): void {
  try {
    onBody(body);
  } catch (error) {
    failExchange(exchange, error);
  }
}
