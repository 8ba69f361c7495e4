import { TABLES } from '../prefixes.js';
import type { InvocationKey } from './invocation.js';
import type { Table } from './table.js';

/** Index of the invocations whose attempts a new leader starts again. The rows are empty. */
export const activeTable: Table<InvocationKey, true> = {
  number: TABLES.active,
  keyText: (key) => key.id,
  writeKey: (key, writer) => writer.invocationId(key.id),
  readKey: (reader) => ({ id: reader.invocationId() }),
  row: { write: () => undefined, read: () => true },
  isWriteOnly: true,
};
