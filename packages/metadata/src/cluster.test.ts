import { describe, expect, it } from '@jest/globals';
import { encodeUtf8 } from '@engine/stdx';

import {
  CLUSTER_DOCUMENT,
  decodeCluster,
  encodeCluster,
  provisionCluster,
} from './documents/cluster.js';
import { MemoryMetadataStore } from './memory-metadata-store.js';

describe('provisioning', () => {
  it('keeps what the first start chose, whatever the configuration says later', async () => {
    const store = new MemoryMetadataStore();
    const first = await provisionCluster(store, { name: 'c', partitionCount: 4 });
    expect(first.partitionCount).toBe(4);
    expect(await provisionCluster(store, { name: 'c', partitionCount: 24 })).toEqual(first);
  });

  it('refuses the data of another cluster', async () => {
    const store = new MemoryMetadataStore();
    await provisionCluster(store, { name: 'c', partitionCount: 4 });
    const other = provisionCluster(store, { name: 'd', partitionCount: 4 });
    await expect(other).rejects.toMatchObject({ code: 'RT0002' });
  });

  it.each([
    '',
    '{}',
    '{"format":1,"name":"c","partitionCount":0}',
    '{"format":2,"name":"c"}',
    '\xff',
  ])('refuses a document that it cannot read: %s', async (text) => {
    const store = new MemoryMetadataStore();
    await store.put(CLUSTER_DOCUMENT, encodeUtf8(text), 'absent');
    const read = provisionCluster(store, { name: 'c', partitionCount: 4 });
    await expect(read).rejects.toMatchObject({ code: 'META0005' });
  });

  it('of two first starts at once one wins, and both get its cluster', async () => {
    const store = new MemoryMetadataStore();
    const both = await Promise.all([
      provisionCluster(store, { id: 'a', name: 'c', partitionCount: 4 }),
      provisionCluster(store, { id: 'b', name: 'c', partitionCount: 24 }),
    ]);
    expect(both[1]).toEqual(both[0]);
  });

  it('a document of a newer format is refused as newer', () => {
    const newer = () => decodeCluster(encodeUtf8('{"format":3,"moved":true}'));
    expect(newer).toThrow(expect.objectContaining({ code: 'META0010' }));
  });

  it('comes back as it was written, and reads what servers of one process wrote', () => {
    const cluster = {
      id: '01J',
      name: 'c',
      partitionCount: 24,
      replicas: 3,
      formatVersion: 2,
    } as const;
    expect(decodeCluster(encodeCluster(cluster))).toEqual(cluster);
    const old = encodeUtf8('{"format":1,"name":"c","partitionCount":4}');
    const read = { id: 'c', name: 'c', partitionCount: 4, replicas: 1, formatVersion: 1 };
    expect(decodeCluster(old)).toEqual(read);
  });
});
