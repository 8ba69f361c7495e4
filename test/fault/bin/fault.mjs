// `npm run fault`: the fault suite from source, against the built engine.
// `node test/fault/bin/fault.mjs --faults 100 --seed 7`
import { setUp } from '../../../tools/bootstrap.mjs';
import { runFromSource } from '../../../tools/from-source.mjs';

if (process.env.ENGINE_FROM_SOURCE === undefined && !process.argv.includes('--no-build')) setUp();
await runFromSource(import.meta.url, '../src/main.ts');
