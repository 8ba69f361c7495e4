import { addAbortSignal, type Readable } from 'node:stream';
import { DISCOVERY_BODY_BYTES_MAX } from '../limits.js';
import { ExchangeError } from './exchange.js';

/**
 * All bytes of an answer. Errors: `unreachable` when it breaks off, `unusable` when it is too long or `signal` comes first.
 */
export async function readBody(stream: Readable, signal: AbortSignal): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of addAbortSignal(signal, stream) as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > DISCOVERY_BODY_BYTES_MAX) {
        throw new ExchangeError('unusable', 'the answer to discovery is too long');
      }
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof ExchangeError) throw error;
    if (signal.aborted) throw new ExchangeError('unusable', 'no answer in time', error);
    throw new ExchangeError('unreachable', 'the answer to discovery broke off', error);
  }
  return Buffer.concat(chunks);
}
