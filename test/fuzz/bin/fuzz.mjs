// `npm run fuzz`: the fuzzer from source. `node test/fuzz/bin/fuzz.mjs --target frames --inputs 1000000 --seed 7`
import { runFromSource } from '../../../tools/from-source.mjs';

await runFromSource(import.meta.url, '../src/main.ts');
