import { describe, expect, it } from '@jest/globals';
import { encodeUtf8 } from '@engine/stdx';

import { CLUSTER_DOCUMENT, provisionCluster } from './documents/cluster.js';
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

  it.each(['', '{}', '{"format":1,"name":"c","partitionCount":0}', '{"format":2,"name":"c"}'])(
    'refuses a document that it cannot read: %s',
    async (text) => {
      const store = new MemoryMetadataStore();
      await store.put(CLUSTER_DOCUMENT, encodeUtf8(text), 'absent');
      const read = provisionCluster(store, { name: 'c', partitionCount: 4 });
      await expect(read).rejects.toMatchObject({ code: 'META0005' });
    },
  );
});
