/** The two hash functions that ids are made of. Both are one-shot and synchronous; load them once at start. */
import { createSHA256, createXXHash3 } from 'hash-wasm';

export interface Hashes {
  /** XXH3, 64 bits, seed 0. */
  readonly xxh3: (bytes: Uint8Array) => bigint;
  /** SHA-256, 32 bytes. */
  readonly sha256: (bytes: Uint8Array) => Uint8Array;
}

/** Compiles the hash functions (a few milliseconds) and hands them over for the life of the process. */
export function loadHashes(): Promise<Hashes> {
  return Promise.all([createXXHash3(0, 0), createSHA256()]).then(([xxh3, sha256]) => ({
    xxh3: (bytes) => {
      const digest = xxh3.init().update(bytes).digest('binary');
      return new DataView(digest.buffer, digest.byteOffset, 8).getBigUint64(0);
    },
    sha256: (bytes) => sha256.init().update(bytes).digest('binary'),
  }));
}
