// `npm run server -- <flags>`: the engine alone, after whatever set-up is missing.
import { join } from 'node:path';
import { becomeCommand, root, setUp } from './bootstrap.mjs';

setUp();
becomeCommand(join(root, 'packages/server/bin/engine'), ['server', ...process.argv.slice(2)]);
