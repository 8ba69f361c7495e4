// What a hop between two nodes costs, from source: `node test/bench/bin/hop.mjs`.
import { runFromSource } from '../../../tools/from-source.mjs';

await runFromSource(import.meta.url, '../src/hop.ts');
