/** Encodes messages with one writer that keeps its buffer: a fresh one per message costs more than the encoding. */
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import type { MessageFns } from './gen/service-protocol/messages.js';

/** A writer that grew beyond this is not kept. */
const KEPT_BUFFER_BYTES_MAX = 64 * 1024;

let writer = new BinaryWriter();

/** The bytes of a message, in an array of their own. */
export function encodeMessage<Message>(codec: MessageFns<Message>, message: Message): Uint8Array {
  try {
    const bytes = codec.encode(message, writer).finish();
    if (bytes.length > KEPT_BUFFER_BYTES_MAX) writer = new BinaryWriter();
    return bytes;
  } catch (error) {
    // A half-written message must not open the next one.
    writer = new BinaryWriter();
    throw error;
  }
}

/** A field that ends a message, without its content: its number, and the bytes of the message that holds the content. */
export interface LargeField {
  readonly field: number;
  /** Fields of the inner message before the content. */
  readonly before: Uint8Array;
  readonly contentField: number;
  readonly content: Uint8Array;
}

/** Tag and length of the inner message, what it begins with, tag and length of its content. The content itself follows. */
export function largeFieldHead({ field, before, contentField, content }: LargeField): Uint8Array {
  const head = [...lengthDelimited(contentField, content.length)];
  const innerLength = before.length + head.length + content.length;
  return Uint8Array.from([...lengthDelimited(field, innerLength), ...before, ...head]);
}

/** Tag and length of a field of bytes. */
function lengthDelimited(field: number, length: number): number[] {
  return [...varint(field * 8 + 2), ...varint(length)];
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  bytes.push(rest);
  return bytes;
}
