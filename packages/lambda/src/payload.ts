/** The envelope: an HTTP request as the event of a function, and its return value as the response (interface §7). */

import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, createZstdDecompress, zstdCompress } from 'node:zlib';

import { EngineError } from '@engine/domain';
import { z } from 'zod';

import type { FunctionRequest, FunctionResponse } from './function-invoker.js';
import { BODY_PIECE_BYTES, COMPRESSION_LEVEL, PACKED_BODY_BYTES_MAX } from './limits.js';

const compress = promisify(zstdCompress);

const answer = z.object({
  statusCode: z.int().min(100).max(599),
  headers: z.record(z.string(), z.string()).nullish(),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().nullish(),
});

/**
 * Undefined when nobody takes a request of this size.
 *
 * Effects: compresses in a thread of the pool what has `thresholdBytes` or more.
 */
export async function encodeRequest(
  request: FunctionRequest,
  thresholdBytes: number,
): Promise<Uint8Array | undefined> {
  const headers: Record<string, string> = { ...request.headers };
  let { body } = request;
  if (request.compression === 'zstd') {
    headers['accept-encoding'] = 'zstd';
    if (body.length > 0 && body.length >= thresholdBytes) {
      headers['content-encoding'] = 'zstd';
      const params = { [constants.ZSTD_c_compressionLevel]: COMPRESSION_LEVEL };
      body = await compress(body, { params });
    }
  }
  if (body.length > PACKED_BODY_BYTES_MAX) return undefined;
  const event = {
    path: request.path,
    httpMethod: request.method,
    headers,
    body: Buffer.from(body.buffer, body.byteOffset, body.length).toString('base64'),
    isBase64Encoded: true,
  };
  return Buffer.from(JSON.stringify(event));
}

/** Errors: RT0010 when the payload is no response. */
export function decodeResponse(payload: Uint8Array): FunctionResponse {
  const parsed = answer.safeParse(parseJson(payload));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = issue?.path.join('.') ?? '';
    const reason = where === '' ? 'it is no JSON object' : `bad member '${where}'`;
    throw new EngineError('RT0010', `the function did not answer with a response: ${reason}`);
  }
  const { statusCode, body, isBase64Encoded } = parsed.data;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(parsed.data.headers ?? {})) {
    headers[name.toLowerCase()] = value;
  }
  const bytes = Buffer.from(body ?? '', isBase64Encoded === true ? 'base64' : 'utf8');
  return { status: statusCode, headers, body: bodyStream(bytes, headers['content-encoding']) };
}

/** A response that AWS stands for and no function has given. */
export function emptyResponse(
  status: number,
  headers: Readonly<Record<string, string>>,
): FunctionResponse {
  return { status, headers, body: bodyStream(new Uint8Array(), undefined) };
}

function bodyStream(bytes: Uint8Array, encoding: string | undefined): Readable {
  if (encoding !== 'zstd') return Readable.from(pieces(bytes), { objectMode: false });
  const unpacked = createZstdDecompress({ chunkSize: BODY_PIECE_BYTES });
  unpacked.end(bytes);
  return unpacked;
}

function* pieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += BODY_PIECE_BYTES) {
    yield bytes.subarray(start, start + BODY_PIECE_BYTES);
  }
}

function parseJson(payload: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(payload).toString('utf8'));
  } catch {
    return undefined;
  }
}
