import type { Clock } from './clock.js';
import type { Random } from './random.js';

/** Makes 16 bytes: 48 bits of milliseconds since the epoch, big-endian, then 80 bits of chance. Sorts by time of making. */
export type UlidFactory = () => Uint8Array;

/** Two made in the same millisecond come in no particular order. */
export function createUlidFactory(clock: Clock, random: Random): UlidFactory {
  return () => {
    const bytes = random.bytes(16);
    const ms = clock.now();
    const high = Math.floor(ms / 2 ** 32);
    bytes[0] = high >>> 8;
    bytes[1] = high;
    bytes[2] = ms >>> 24;
    bytes[3] = ms >>> 16;
    bytes[4] = ms >>> 8;
    bytes[5] = ms;
    return bytes;
  };
}
