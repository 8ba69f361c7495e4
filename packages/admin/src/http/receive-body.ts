import type { Request } from 'express';
import { HttpProblem } from './problem.js';

/**
 * The whole body; empty when there is none. Errors: 413 above `bytesMax`, 415 for a compressed one, 400 when it breaks off.
 *
 * Not express's parser: that takes an HTTP/2 request without `content-length` for one without a body.
 */
export function receiveBody(request: Request, bytesMax: number): Promise<Buffer> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  return new Promise((resolve, reject) => {
    const refuse = (problem: HttpProblem): void => {
      request.off('data', take);
      // What is left has no reader; unread, it would hold up the answer.
      request.resume();
      reject(problem);
    };
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > bytesMax) refuse(tooLarge(bytesMax));
      else chunks.push(chunk);
    };
    request.once('end', () => {
      resolve(Buffer.concat(chunks));
    });
    const breakOff = (): void => {
      reject(new HttpProblem(400, 'the body broke off'));
    };
    request.once('error', breakOff);
    request.once('close', breakOff);
    if (encoding !== 'identity') {
      refuse(new HttpProblem(415, `content-encoding '${encoding}' is not supported in requests`));
    } else if (Number(request.headers['content-length'] ?? 0) > bytesMax) {
      refuse(tooLarge(bytesMax));
    } else {
      request.on('data', take);
    }
  });
}

function tooLarge(bytesMax: number): HttpProblem {
  return new HttpProblem(413, `the body is larger than ${String(bytesMax)} bytes`);
}
