// `npm run bench`: builds the engine and the benchmark, then runs it under the pinned Node.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { become, binOf, pinnedNode, root, setUp } from '../../../tools/bootstrap.mjs';

setUp();
const build = [binOf('tsc', 'typescript'), '-b', 'test/bench'];
const built = spawnSync(pinnedNode(), build, { cwd: root, stdio: 'inherit' });
if (built.status === 0) become(join(root, 'test/bench/dist/main.js'), process.argv.slice(2));
else process.exitCode = 1;
