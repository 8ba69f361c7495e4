import { BinaryWriter } from '@bufbuild/protobuf/wire';

import type { RowCodec } from './codec.js';

const scratch = new BinaryWriter();

/** The bytes of one row in an array of its own; rows of a record go through a MutationWriter instead. */
export function encodeRow<Row>(codec: RowCodec<Row>, row: Row): Uint8Array {
  codec.write(row, scratch);
  return scratch.finish();
}
