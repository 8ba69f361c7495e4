import { loadHashes } from '@engine/domain';

import { partitionLogContract } from '../contract/index.js';
import { MemoryLogHistory, MemoryPartitionLog } from './memory-partition-log.js';

partitionLogContract('MemoryPartitionLog', async () => {
  const { xxh3 } = await loadHashes();
  const history = new MemoryLogHistory();
  const open = () => Promise.resolve(new MemoryPartitionLog({ history }));
  return { checksum: xxh3, open, reopen: open, close: () => Promise.resolve() };
});
