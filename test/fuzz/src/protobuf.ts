/** Random messages in protobuf's encoding: after a shape mostly, with fields missing, repeated, foreign or of another type. */

import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

import type { Chance } from './chance.js';

/** What a field holds; a shape = a message, `self` = the message that the field stands in. */
type FieldKind = 'number' | 'long' | 'text' | 'bytes' | 'self' | Shape;

/** Fields by number. */
export interface Shape {
  readonly [field: number]: FieldKind;
}

const DEPTH_MAX = 6;
const PAYLOAD_BYTES_MAX = 300;

/** The bytes of a message of this shape. */
export function messageOf(chance: Chance, shape: Shape): Uint8Array {
  const writer = new BinaryWriter();
  writeMessage(chance, shape, { writer, depth: 0 });
  return writer.finish();
}

interface Place {
  readonly writer: BinaryWriter;
  readonly depth: number;
}

function writeMessage(chance: Chance, shape: Shape, place: Place): void {
  for (const [field, kind] of Object.entries(shape) as unknown as [string, FieldKind][]) {
    const times = chance.yes(0.75) ? 1 : chance.below(4);
    for (let i = 0; i < times; i += 1) {
      const isTrue = chance.yes(0.97);
      const number = isTrue ? Number(field) : chance.between(1, 20);
      const held = chance.yes(0.97)
        ? kind
        : chance.pick(['number', 'text', 'bytes', 'long'] as const);
      writeField(chance, number, { kind: held, shape, place });
    }
  }
}

interface FieldValue {
  readonly kind: FieldKind;
  readonly shape: Shape;
  readonly place: Place;
}

function writeField(chance: Chance, field: number, { kind, shape, place }: FieldValue): void {
  const { writer, depth } = place;
  switch (kind) {
    case 'number':
      writer.tag(field, WireType.Varint).uint32(chance.number());
      return;
    case 'long':
      writer
        .tag(field, WireType.Varint)
        .uint64((BigInt(chance.number()) << 32n) | BigInt(chance.number()));
      return;
    case 'text':
      writer.tag(field, WireType.LengthDelimited).string(chance.text(chance.length(40)));
      return;
    case 'bytes': {
      writer
        .tag(field, WireType.LengthDelimited)
        .bytes(chance.bytes(chance.length(PAYLOAD_BYTES_MAX)));
      return;
    }
    default: {
      if (depth >= DEPTH_MAX) return;
      writer.tag(field, WireType.LengthDelimited).fork();
      writeMessage(chance, kind === 'self' ? shape : kind, { writer, depth: depth + 1 });
      writer.join();
    }
  }
}
