// Runs a program of test/* from source, packages included. Started by any Node, it goes on under the pinned one, which reads
// TypeScript.
import { existsSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';

import { become, setUp } from './bootstrap.mjs';

const SOURCE_CONDITION = '@engine/source';
const CHILD = 'ENGINE_FROM_SOURCE';

/** `script` is the URL of the calling script, `main` the program, relative to it. */
export async function runFromSource(script, main) {
  if (process.env[CHILD] === undefined) {
    setUp({ build: false });
    become(fileURLToPath(script), process.argv.slice(2), {
      [CHILD]: '1',
      ENGINE_LOG_LEVEL: process.env.ENGINE_LOG_LEVEL ?? 'silent',
    });
    return;
  }
  // Only the pinned Node has this.
  nodeModule.registerHooks({
    resolve(specifier, context, nextResolve) {
      const conditions = [...new Set([...context.conditions, SOURCE_CONDITION])];
      return nextResolve(sourceOf(specifier, context.parentURL), { ...context, conditions });
    },
  });
  await import(new URL(main, script).href);
}

/** Imports name the built file; here its source stands beside the importer. */
function sourceOf(specifier, parentUrl) {
  if (!/^\.{1,2}\/.*\.js$/.test(specifier) || parentUrl === undefined) return specifier;
  const source = new URL(specifier.replace(/\.js$/, '.ts'), parentUrl);
  return source.protocol === 'file:' && existsSync(source) ? source.href : specifier;
}
