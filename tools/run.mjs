// `node tools/run.mjs <command> <arguments>`: runs an installed command under the pinned Node, after whatever set-up is missing.
import { become, binOf, setUp } from './bootstrap.mjs';

const PACKAGES = { tsc: 'typescript', depcruise: 'dependency-cruiser' };
const [command = '', ...args] = process.argv.slice(2);

setUp({ build: false });
become(binOf(command, PACKAGES[command] ?? command), args);
