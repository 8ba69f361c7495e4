// Runs the simulation from source: `node test/simulation/bin/simulate.mjs --seed 7 --plan storm`, or `--seeds 2000`.
import { runFromSource } from '../../../tools/from-source.mjs';

await runFromSource(import.meta.url, '../src/main.ts');
