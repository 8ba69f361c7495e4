import { objectStoreContract } from '../contract/index.js';
import { MemoryObjectStore } from './memory-object-store.js';

objectStoreContract('MemoryObjectStore', () => {
  const store = new MemoryObjectStore();
  return Promise.resolve({
    open: () => Promise.resolve(store),
    reopen: () => Promise.resolve(store),
    dispose: () => Promise.resolve(),
  });
});
