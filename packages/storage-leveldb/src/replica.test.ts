import { beforeAll, describe, expect, it } from '@jest/globals';
import { loadHashes, toPartitionId, type Hashes } from '@engine/domain';
import { LOG_START, MemoryLogHistory, MemorySharedLog, RecordWriter } from '@engine/log';
import { requireLeading } from '@engine/log/contract';
import { MemoryKvStore, partitionPrefix } from '@engine/storage';
import { MutationWriter } from '@engine/wire';

import { Replica } from './replica.js';

const place = { partition: toPartitionId(1), generation: 2 };
const { signal } = new AbortController();
let hashes: Hashes;

beforeAll(async () => {
  hashes = await loadHashes();
});

function put(key: number): ReturnType<MutationWriter['finish']> {
  const writer = new MutationWriter();
  writer.put(Uint8Array.of(100, key), Uint8Array.of(key));
  return writer.finish();
}

/** A leader with five records, and what its store holds. */
async function led() {
  const shared = new MemorySharedLog({ history: new MemoryLogHistory(), checksum: hashes.xxh3 });
  const store = new MemoryKvStore();
  const replica = await Replica.open({ place }, { store });
  const { position: from, apply } = replica;
  const log = requireLeading(await shared.takeOver({ epoch: 3n, node: 'a', from, apply, signal }));
  const writer = new RecordWriter(log.position, hashes.xxh3);
  for (let key = 0; key < 5; key += 1) await log.commit(writer.next(put(key)));
  return { shared, store, replica, log };
}

describe('Replica', () => {
  it('an empty store stands at the start of the log', async () => {
    const replica = await Replica.open({ place }, { store: new MemoryKvStore() });
    expect(replica.position).toEqual(LOG_START);
  });

  it('applies records and knows its position when it is opened again', async () => {
    const { store, replica, log } = await led();
    expect(replica.position).toEqual(log.position);
    expect((await Replica.open({ place }, { store })).position).toEqual(log.position);
    expect(store.get(Uint8Array.of(...partitionPrefix(place), 100, 4))).toEqual(Uint8Array.of(4));
  });

  it('what a power cut takes is read again from the log', async () => {
    const { shared, store, log } = await led();
    const cut = store.crash();
    const replica = await Replica.open({ place }, { store: cut });
    expect(replica.position.sequence).toBeLessThan(log.position.sequence);
    const { position: from, apply } = replica;
    await shared.follow({ from, apply, stopAtEnd: true, signal });
    expect(replica.position).toEqual(log.position);
    expect(cut.get(Uint8Array.of(...partitionPrefix(place), 100, 4))).toEqual(Uint8Array.of(4));
  });

  it('refuses a record that leaves a gap', async () => {
    const { replica } = await led();
    const writer = new RecordWriter(replica.position, hashes.xxh3);
    writer.next(put(1));
    await expect(replica.apply(writer.next(put(2)))).rejects.toThrow('gap');
  });
});
