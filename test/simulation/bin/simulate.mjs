// Runs the simulation from source: `node test/simulation/bin/simulate.mjs --seed 7 --plan storm`, or `--seeds 2000`.
// Started by any Node, it goes on under the pinned one, which reads TypeScript; packages are read from their sources too.
import { existsSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';

import { become, setUp } from '../../../tools/bootstrap.mjs';

const SOURCE_CONDITION = '@engine/source';
const CHILD = 'ENGINE_SIMULATION_CHILD';

if (process.env[CHILD] === undefined) {
  setUp({ build: false });
  become(fileURLToPath(import.meta.url), process.argv.slice(2), {
    [CHILD]: '1',
    ENGINE_LOG_LEVEL: process.env.ENGINE_LOG_LEVEL ?? 'silent',
  });
} else {
  // Only the pinned Node has this.
  nodeModule.registerHooks({
    resolve(specifier, context, nextResolve) {
      const conditions = [...new Set([...context.conditions, SOURCE_CONDITION])];
      return nextResolve(sourceOf(specifier, context.parentURL), { ...context, conditions });
    },
  });
  await import('../src/main.ts');
}

/** Imports name the built file; here its source stands beside the importer. */
function sourceOf(specifier, parentUrl) {
  if (!/^\.{1,2}\/.*\.js$/.test(specifier) || parentUrl === undefined) return specifier;
  const source = new URL(specifier.replace(/\.js$/, '.ts'), parentUrl);
  return source.protocol === 'file:' && existsSync(source) ? source.href : specifier;
}
