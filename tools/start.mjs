// `npm start`: the embedded engine and an example deployment, after whatever set-up is missing.
import { join } from 'node:path';
import { become, root, setUp } from './bootstrap.mjs';

setUp();
become(join(root, 'packages/server/dist/bin/start.js'), process.argv.slice(2));
