import { loadHashes } from '@engine/domain';

import { partitionLogContract, sharedLogContract } from '../contract/index.js';
import { MemoryLogHistory, MemoryPartitionLog } from './memory-partition-log.js';
import { MemorySharedLog } from './memory-shared-log.js';

partitionLogContract('MemoryPartitionLog', async () => {
  const { xxh3 } = await loadHashes();
  const history = new MemoryLogHistory();
  const open = () => Promise.resolve(new MemoryPartitionLog({ history }));
  return { checksum: xxh3, announcements: 0n, open, reopen: open, close: () => Promise.resolve() };
});

sharedLogContract('MemorySharedLog', async () => {
  const { xxh3: checksum } = await loadHashes();
  const history = new MemoryLogHistory();
  return {
    checksum,
    open: () => Promise.resolve(new MemorySharedLog({ history, checksum })),
    close: () => Promise.resolve(),
  };
});
