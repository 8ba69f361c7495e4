import type {
  DurablePromise,
  InboxEntry,
  InvocationId,
  ObjectLock,
  PromiseDirectory,
  StateDirectory,
  StateDirectoryEntry,
  StateEntry,
} from '@engine/domain';

import { missing, rowCodec, type RowCodec } from '../codec.js';
import * as gen from '../gen/engine/store/v1/object.js';
import { slotFromWire, slotToWire } from './invocation.js';
import { resultFromWire, resultToWire } from './result.js';

export const objectLockRow: RowCodec<ObjectLock> = rowCodec('object-lock', gen.ObjectLock, {
  toWire: (row: ObjectLock): gen.ObjectLock => row,
  fromWire: (message): ObjectLock => ({
    holder: message.holder as InvocationId,
    inboxHead: message.inboxHead,
    inboxTail: message.inboxTail,
    replacements: message.replacements,
  }),
});

function inboxToWire(row: InboxEntry): gen.InboxEntry {
  switch (row.kind) {
    case 'invocation':
      return { entry: { $case: 'invocationId', value: row.invocationId } };
    case 'state-replacement': {
      const { expectedVersion, entries } = row.replacement;
      const value = { expectedVersion, entries: entries as StateEntry[] };
      return { entry: { $case: 'stateReplacement', value } };
    }
  }
}

function inboxFromWire({ entry }: gen.InboxEntry): InboxEntry {
  switch (entry?.$case) {
    case 'invocationId':
      return { kind: 'invocation', invocationId: entry.value as InvocationId };
    case 'stateReplacement': {
      const { expectedVersion, entries } = entry.value;
      return { kind: 'state-replacement', replacement: { expectedVersion, entries } };
    }
    case undefined:
      return missing('inbox entry');
  }
}

export const inboxRow: RowCodec<InboxEntry> = rowCodec('inbox', gen.InboxEntry, {
  toWire: inboxToWire,
  fromWire: inboxFromWire,
});

export const stateRow: RowCodec<Uint8Array> = rowCodec('state', gen.StateValue, {
  toWire: (value: Uint8Array): gen.StateValue => ({ value }),
  fromWire: (message) => message.value,
});

export const stateDirectoryRow: RowCodec<StateDirectory> = rowCodec(
  'state-directory',
  gen.StateDirectory,
  {
    toWire: (row: StateDirectory): gen.StateDirectory => ({
      entries: row.entries as StateDirectoryEntry[],
    }),
    fromWire: (message): StateDirectory => message,
  },
);

function promiseToWire(row: DurablePromise): gen.DurablePromise {
  switch (row.kind) {
    case 'completed':
      return { promise: { $case: 'completed', value: resultToWire(row.result) } };
    case 'pending':
      return {
        promise: { $case: 'pending', value: { listeners: row.listeners.map(slotToWire) } },
      };
  }
}

function promiseFromWire({ promise }: gen.DurablePromise): DurablePromise {
  switch (promise?.$case) {
    case 'completed':
      return { kind: 'completed', result: resultFromWire(promise.value) };
    case 'pending':
      return { kind: 'pending', listeners: promise.value.listeners.map(slotFromWire) };
    case undefined:
      return missing('promise');
  }
}

export const promiseRow: RowCodec<DurablePromise> = rowCodec('promise', gen.DurablePromise, {
  toWire: promiseToWire,
  fromWire: promiseFromWire,
});

export const promiseDirectoryRow: RowCodec<PromiseDirectory> = rowCodec(
  'promise-directory',
  gen.PromiseDirectory,
  {
    toWire: (row: PromiseDirectory): gen.PromiseDirectory => ({ names: row.names as string[] }),
    fromWire: (message): PromiseDirectory => message,
  },
);
