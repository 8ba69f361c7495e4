// What the logs of a cluster cost by the number of partitions, from source: `node test/bench/bin/partitions.mjs`.
import { runFromSource } from '../../../tools/from-source.mjs';

await runFromSource(import.meta.url, '../src/partitions.ts');
