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
