import type { Invocation, InvocationId } from '@engine/domain';
import { invocationRow } from '@engine/wire';

import { TABLES } from '../prefixes.js';
import type { Table } from './table.js';

export interface InvocationKey {
  readonly id: InvocationId;
}

/** Every invocation that is known, also ended ones until they are purged. */
export const invocationTable: Table<InvocationKey, Invocation> = {
  number: TABLES.invocation,
  keyText: (key) => key.id,
  writeKey: (key, writer) => writer.invocationId(key.id),
  readKey: (reader) => ({ id: reader.invocationId() }),
  row: invocationRow,
};
