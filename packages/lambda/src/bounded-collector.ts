import { EngineError } from '@engine/domain';

import { RESPONSE_PAYLOAD_BYTES_MAX } from './limits.js';

/** All bytes of an answer of AWS. Errors: RT0010 when they are more than AWS may send. */
export async function boundedCollector(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of stream) {
    sizeBytes += chunk.length;
    if (sizeBytes > RESPONSE_PAYLOAD_BYTES_MAX) {
      const limit = String(RESPONSE_PAYLOAD_BYTES_MAX);
      throw new EngineError('RT0010', `the answer of the function has more than ${limit} bytes`);
    }
    chunks.push(chunk);
  }
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}
