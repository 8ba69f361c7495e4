/** Compression of answers, in the encoding that the client likes best. */

import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  constants,
  createBrotliCompress,
  createDeflate,
  createGzip,
  createZstdCompress,
} from 'node:zlib';
import type { Response } from 'express';
import { COMPRESSION_BYTES_MIN } from '../limits.js';

/** Fast enough for answers that are made for one reader. */
const BROTLI_QUALITY = 4;

/** In order of preference, for clients that have none. */
const ENCODINGS = ['zstd', 'br', 'gzip', 'deflate'] as const;
type Encoding = (typeof ENCODINGS)[number];

/** Answers with `bytes`. The status and the content type are set before. */
export function sendBytes(response: Response, bytes: Uint8Array): void {
  const encoder = bytes.length < COMPRESSION_BYTES_MIN ? undefined : startEncoding(response);
  if (encoder === undefined) {
    response.vary('accept-encoding');
    response.setHeader('content-length', bytes.length);
    response.end(isHead(response) ? undefined : bytes);
    return;
  }
  if (isHead(response)) {
    response.end();
    return;
  }
  // Fails only when the client goes away, and then nobody is there to be told.
  pipeline(Readable.from([bytes]), encoder, response).catch(() => undefined);
}

/** Answers with `pieces` as they come. Rejects when they fail, or the client goes away. */
export async function sendStream(
  response: Response,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> {
  const encoder = startEncoding(response);
  const source = Readable.from(pieces, { objectMode: false });
  await (encoder === undefined ? pipeline(source, response) : pipeline(source, encoder, response));
}

function startEncoding(response: Response): Transform | undefined {
  response.vary('accept-encoding');
  const chosen = response.req.acceptsEncodings([...ENCODINGS, 'identity']);
  const encoding = ENCODINGS.find((each) => each === chosen);
  if (encoding === undefined) return undefined;
  response.setHeader('content-encoding', encoding);
  return createEncoder(encoding);
}

function createEncoder(encoding: Encoding): Transform {
  switch (encoding) {
    case 'zstd':
      return createZstdCompress();
    case 'br':
      return createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
    case 'gzip':
      return createGzip();
    case 'deflate':
      return createDeflate();
  }
}

function isHead(response: Response): boolean {
  return response.req.method === 'HEAD';
}
