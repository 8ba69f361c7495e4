/**
 * What all mappings lean on: the row codec, texts ⇄ enum numbers, and the error for bytes that nobody here can read.
 *
 * Rows are mapped to the generated messages field by field (no spreads) and encoded straight into the writer of a record.
 */

import type { BinaryWriter } from '@bufbuild/protobuf/wire';
import { EngineError } from '@engine/domain';

/** Where encoded rows go. One writer takes many rows. */
export type { BinaryWriter } from '@bufbuild/protobuf/wire';

/** Bytes of one kind of row. `read(finish(write(row)))` equals `row`. */
export interface RowCodec<Row> {
  /** Effects: appends the encoded row to `writer`, without a length. */
  write(row: Row, writer: BinaryWriter): void;
  /** Byte fields of the row are views of `bytes`. Throws EngineError `storage` when the bytes are not such a row. */
  read(bytes: Uint8Array): Row;
}

/** Messages of the generated code, as far as a codec needs them. */
export interface MessageCoder<Message> {
  encode(message: Message, writer?: BinaryWriter): BinaryWriter;
  decode(input: Uint8Array): Message;
}

/** Makes a row codec out of a generated message and the two mappings. */
export function rowCodec<Row, Message>(
  name: string,
  coder: MessageCoder<Message>,
  mapping: { readonly toWire: (row: Row) => Message; readonly fromWire: (message: Message) => Row },
): RowCodec<Row> {
  const { toWire, fromWire } = mapping;
  return {
    write: (row, writer) => {
      coder.encode(toWire(row), writer);
    },
    read: (bytes) => {
      try {
        return fromWire(coder.decode(bytes));
      } catch (cause) {
        throw new EngineError('storage', `the bytes are not a row of kind ${name}`, { cause });
      }
    },
  };
}

/** Both directions of an enum: texts in code, numbers in bytes. */
export interface EnumCodec<Text extends string, Value extends number> {
  readonly toWire: Readonly<Record<Text, Value>>;
  /** Throws EngineError `storage` for a number without a text: the bytes come from a newer version. */
  fromWire(value: number): Text;
}

/** Makes an enum codec; `toWire` names every text exactly once. */
export function enumCodec<Text extends string, Value extends number>(
  name: string,
  toWire: Readonly<Record<Text, Value>>,
): EnumCodec<Text, Value> {
  const texts: (Text | undefined)[] = [];
  for (const text of Object.keys(toWire) as Text[]) texts[toWire[text]] = text;
  return {
    toWire,
    fromWire: (value) => texts[value] ?? missing(`${name} ${String(value)}`),
  };
}

/** Reports bytes that lack something every version writes. Throws EngineError `storage`. */
export function missing(what: string): never {
  throw new EngineError('storage', `unknown or missing: ${what}`);
}

/** The value, or the error of `missing`. */
export function required<T>(value: T | undefined, what: string): T {
  return value ?? missing(what);
}
