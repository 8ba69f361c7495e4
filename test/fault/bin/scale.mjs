// What workers add: `node test/fault/bin/scale.mjs --seconds 10`, from source, against the built engine.
import { setUp } from '../../../tools/bootstrap.mjs';
import { runFromSource } from '../../../tools/from-source.mjs';

if (process.env.ENGINE_FROM_SOURCE === undefined && !process.argv.includes('--no-build')) setUp();
await runFromSource(import.meta.url, '../src/scale/main.ts');
