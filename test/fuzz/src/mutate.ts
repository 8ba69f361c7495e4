/** Spoils valid bytes and texts a little: most of the structure stays, so the damage gets deep into a parser. */

import { concatBytes, decodeUtf8, encodeUtf8 } from '@engine/stdx';

import type { Chance } from './chance.js';

/** Bytes that mean something to most formats: zero, ends of ranges, continuation bits, tags, separators. */
const TELLING = [
  0x00, 0x01, 0x07, 0x08, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0x7f, 0x80, 0xc0, 0xfe, 0xff,
];

/** Length prefixes that promise more than follows, as protobuf writes them. */
const FORGED_LENGTHS = [
  [0xff, 0x7f],
  [0xff, 0xff, 0xff, 0x0f],
  [0xff, 0xff, 0xff, 0x7f],
  [0xff, 0xff, 0xff, 0xff, 0x07],
  [0xff, 0xff, 0xff, 0xff, 0x0f],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
];

/** One to four changes. The given bytes stay as they are; the result may be longer or shorter. */
export function mutateBytes(chance: Chance, bytes: Uint8Array): Uint8Array {
  let mutated: Uint8Array = bytes.slice();
  const changes = chance.between(1, 4);
  for (let i = 0; i < changes; i += 1) mutated = change(chance, mutated);
  return mutated;
}

/** As `mutateBytes`, on the UTF-8 of a text; what is no UTF-8 afterwards becomes U+FFFD. */
export function mutateText(chance: Chance, text: string): string {
  return decodeUtf8(mutateBytes(chance, encodeUtf8(text)));
}

function change(chance: Chance, bytes: Uint8Array): Uint8Array {
  const at = chance.below(bytes.length + 1);
  const until = Math.min(bytes.length, at + chance.length(64));
  switch (chance.below(9)) {
    case 0:
      if (bytes.length > 0)
        bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ (1 << chance.below(8));
      return bytes;
    case 1:
      if (bytes.length > 0) bytes[at % bytes.length] = chance.pick(TELLING);
      return bytes;
    case 2:
      return concatBytes([
        bytes.subarray(0, at),
        chance.bytes(chance.length(16)),
        bytes.subarray(at),
      ]);
    case 3:
      return concatBytes([bytes.subarray(0, at), bytes.subarray(until)]);
    case 4:
      return concatBytes([bytes.subarray(0, until), bytes.subarray(at)]);
    case 5:
      return bytes.slice(0, at);
    case 6:
      return concatBytes([
        bytes.subarray(0, at),
        Uint8Array.from(chance.pick(FORGED_LENGTHS)),
        bytes.subarray(until),
      ]);
    case 7: {
      const from = chance.below(bytes.length + 1);
      const piece = bytes.slice(from, from + chance.length(64));
      return concatBytes([bytes.subarray(0, at), piece, bytes.subarray(until)]);
    }
    default:
      return bytes.fill(chance.pick(TELLING), at, until);
  }
}
