import { describe, expect, it } from '@jest/globals';
import { Deferred } from '@engine/stdx';
import { MemoryKvStore, type KvBatch, type KvStore } from '@engine/storage';

import { SharedWrites } from './shared-writes.js';

/** A store whose writes end when the test says so. */
class SlowStore implements Pick<KvStore, 'batch'> {
  readonly store = new MemoryKvStore();
  readonly writing: Deferred<undefined>[] = [];

  batch(): KvBatch {
    const batch = this.store.batch();
    return {
      put: batch.put.bind(batch),
      del: batch.del.bind(batch),
      write: async (options) => {
        const end = new Deferred<undefined>();
        this.writing.push(end);
        await end.promise;
        await batch.write(options);
      },
    };
  }
}

const key = (byte: number): Uint8Array => Uint8Array.of(byte);
const put = (byte: number) => (batch: KvBatch) => {
  batch.put(key(byte), key(byte));
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('SharedWrites', () => {
  it('writes what comes in one turn together, and what comes meanwhile after it', async () => {
    const slow = new SlowStore();
    const writes = new SharedWrites(slow as unknown as KvStore);
    const first = Promise.all([writes.write(put(1)), writes.write(put(2))]);
    await turn();
    const second = Promise.all([writes.write(put(3)), writes.write(put(4))]);
    await turn();
    expect(slow.writing).toHaveLength(1);
    slow.writing[0]?.resolve(undefined);
    await first;
    expect([1, 2, 3].map((byte) => slow.store.get(key(byte)) !== undefined)).toEqual([
      true,
      true,
      false,
    ]);
    await turn();
    expect(slow.writing).toHaveLength(2);
    slow.writing[1]?.resolve(undefined);
    await second;
    expect(slow.store.get(key(4))).toEqual(key(4));
  });

  it('rejects all of a batch that could not be written, and goes on with the next', async () => {
    const slow = new SlowStore();
    const writes = new SharedWrites(slow as unknown as KvStore);
    const both = Promise.allSettled([writes.write(put(1)), writes.write(put(2))]);
    await turn();
    slow.writing[0]?.reject(new Error('no room'));
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const next = writes.write(put(3));
    await turn();
    slow.writing[1]?.resolve(undefined);
    await next;
    expect(slow.store.get(key(3))).toEqual(key(3));
  });

  it('rejects all of a batch into which somebody failed to write', async () => {
    const slow = new SlowStore();
    const writes = new SharedWrites(slow as unknown as KvStore);
    const good = writes.write(put(1));
    const bad = writes.write(() => {
      throw new Error('damaged');
    });
    expect((await Promise.allSettled([good, bad])).map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
    ]);
    await turn();
    expect(slow.writing).toHaveLength(0);
  });
});
