import { EngineError, TIMER_RANK, type Timer, type TimerKey, type TimerKind } from '@engine/domain';
import type { InvocationId } from '@engine/domain';
import { timerRow } from '@engine/wire';

import { TABLES } from '../prefixes.js';
import type { Table } from './table.js';

/** All invocation ids begin like this; the key holds the rest of the text, so that its order is that of `compareTimerKeys`. */
const ID_PREFIX = 'inv_1';
const ID_BODY_LENGTH = 33;

const kinds: (TimerKind | undefined)[] = [];
for (const kind of Object.keys(TIMER_RANK) as TimerKind[]) kinds[TIMER_RANK[kind]] = kind;

/** Timers by due time. Decisions set and drop them blindly; the leader reads them in order. */
export const timerTable: Table<TimerKey, Timer> = {
  number: TABLES.timer,
  keyText: (key) =>
    `${key.invocationId}${String(TIMER_RANK[key.kind])}/${String(key.index)}/${String(key.dueAt)}`,
  writeKey: (key, writer) =>
    writer
      .number(key.dueAt)
      .u8(TIMER_RANK[key.kind])
      .ascii(key.invocationId, ID_PREFIX.length)
      .u32(key.index),
  readKey: (reader) => ({
    dueAt: reader.number(),
    kind: kindOf(reader.u8()),
    invocationId: `${ID_PREFIX}${reader.ascii(ID_BODY_LENGTH)}` as InvocationId,
    index: reader.u32(),
  }),
  row: timerRow,
  isWriteOnly: true,
};

function kindOf(rank: number): TimerKind {
  const kind = kinds[rank];
  if (kind === undefined) throw new EngineError('storage', `timer of unknown rank ${String(rank)}`);
  return kind;
}
