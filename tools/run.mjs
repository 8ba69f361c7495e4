// `node tools/run.mjs <command or file> <arguments>`: runs an installed command or a TypeScript file under the pinned Node,
// after whatever set-up is missing.
import { join } from 'node:path';
import { become, binOf, root, setUp } from './bootstrap.mjs';

const PACKAGES = { tsc: 'typescript', depcruise: 'dependency-cruiser' };
const [command = '', ...args] = process.argv.slice(2);
const isFile = /\.(ts|mjs)$/.test(command);

setUp({ build: isFile });
become(isFile ? join(root, command) : binOf(command, PACKAGES[command] ?? command), args);
