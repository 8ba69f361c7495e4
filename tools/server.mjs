// `npm run server -- <flags>`: the engine alone, after whatever set-up is missing.
import { join } from 'node:path';
import { become, root, setUp } from './bootstrap.mjs';

setUp();
become(join(root, 'packages/server/dist/bin/engine.js'), ['server', ...process.argv.slice(2)]);
