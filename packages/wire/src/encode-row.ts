import { BinaryWriter } from '@bufbuild/protobuf/wire';

import type { RowCodec } from './codec.js';

/** A writer that grew beyond this is not kept for the next row. */
const SCRATCH_KEPT_BYTES_MAX = 4 * 1024 * 1024;

let scratch = new BinaryWriter();

/** The bytes of one row in an array of its own; rows of a record go through a MutationWriter instead. */
export function encodeRow<Row>(codec: RowCodec<Row>, row: Row): Uint8Array {
  try {
    codec.write(row, scratch);
    const bytes = scratch.finish();
    if (bytes.length > SCRATCH_KEPT_BYTES_MAX) scratch = new BinaryWriter();
    return bytes;
  } catch (error) {
    // A half-written row must not open the next one.
    scratch = new BinaryWriter();
    throw error;
  }
}
