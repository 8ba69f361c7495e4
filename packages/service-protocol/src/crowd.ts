/** A bound on the parts of a message: two bytes each are enough for objects that take forty times as much memory. */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { MessageFault } from './fault.js';

/** Fields of one message, its list included. */
const FIELDS_MAX = 100_000;

/** A field takes two bytes at least. */
const CROWD_BYTES_MIN = 2 * FIELDS_MAX;

/**
 * Throws MessageFault when `message` has more fields than any honest one, those inside of `listField` counted too. Small messages
 * cost nothing, large ones a walk over their fields.
 */
export function refuseCrowd(message: Uint8Array, listField: number | undefined): void {
  if (message.length < CROWD_BYTES_MIN) return;
  const seen = countFields(message, { listField, fields: 0 });
  if (seen > FIELDS_MAX) throw new MessageFault(`has more than ${FIELDS_MAX.toString()} fields`);
}

/** Fields counted so far and those of `bytes`; stops counting soon after the limit. */
function countFields(
  bytes: Uint8Array,
  from: { readonly listField: number | undefined; readonly fields: number },
): number {
  const reader = new BinaryReader(bytes);
  let { fields } = from;
  while (reader.pos < reader.len && fields <= FIELDS_MAX) {
    const [field, wireType] = reader.tag();
    fields += 1;
    if (field === from.listField && wireType === WireType.LengthDelimited) {
      fields = countFields(reader.bytes(), { listField: undefined, fields });
    } else {
      reader.skip(wireType, field);
    }
  }
  return fields;
}
