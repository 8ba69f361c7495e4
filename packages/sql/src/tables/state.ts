/** Table `state`: one row per state key of each virtual object and workflow. */

import { decodeUtf8Strict, encodeUtf8 } from '@engine/stdx';
import type { StateSnapshot } from '@engine/wire';
import { defineColumns, type Row, type TableDefinition } from '../table.js';

export const STATE: TableDefinition = {
  name: 'state',
  keyColumns: ['service_name', 'service_key'],
  columns: defineColumns(
    ['partition_key', 'u64'],
    ['scope', 'text'],
    ['service_name', 'text'],
    ['service_key', 'text'],
    ['key', 'text'],
    ['key_length', 'u64'],
    ['value_utf8', 'text'],
    ['value', 'bytes'],
    ['value_length', 'u64'],
  ),
};

/** The row of a state value; the value itself only where one of `columns` shows it. */
export function stateRow(snapshot: StateSnapshot, columns: ReadonlySet<string>): Row {
  const { partitionKey, service, key, stateKey, value } = snapshot;
  return [
    partitionKey,
    undefined,
    service,
    key,
    stateKey,
    encodeUtf8(stateKey).length,
    columns.has('value_utf8') ? utf8Text(value) : undefined,
    columns.has('value') ? value : undefined,
    value.length,
  ];
}

/** The text of bytes that are UTF-8, else undefined. */
function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return decodeUtf8Strict(bytes);
  } catch {
    return undefined;
  }
}
