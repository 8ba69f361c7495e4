/**
 * Golden transcripts: `scenarios/*.txt` hold commands (`> …`), the time (`@ …`) and, indented, what came of each. Run with
 * UPDATE_SCENARIOS=1 to write them anew, then review the difference.
 */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';
import { toPartitionId } from '@engine/domain';

import { decide } from './decide.js';
import { violations } from './invariants.js';
import { MapState } from './testing/map-state.js';
import { printOutcome } from './testing/print.js';
import { parseCommand } from './testing/script.js';

const folder = join(import.meta.dirname, '..', 'scenarios');

/** Runs a script. Names in lower case live on partition 1, all others on partition 0, which is the one under test. */
function transcript(script: string): { readonly text: string; readonly broken: readonly string[] } {
  const state = new MapState();
  const lines: string[] = [];
  const broken: string[] = [];
  let at = 0;
  let incarnation = 0;
  for (const line of script.split('\n')) {
    if (line.startsWith('  ')) continue;
    lines.push(line);
    if (line.startsWith('@ ')) at = Number(line.slice(2));
    if (!line.startsWith('> ')) continue;
    incarnation += 1;
    const outcome = decide(state, parseCommand(line.slice(2), at), {
      self: toPartitionId(0),
      partitionOf: (id) => toPartitionId(/^[a-z]/.test(id) ? 1 : 0),
      incarnation,
      sha256: (bytes) => createHash('sha256').update(bytes).digest(),
    });
    state.apply(outcome.mutations);
    lines.push(...printOutcome(outcome));
    broken.push(...violations(state, outcome));
  }
  return { text: lines.join('\n'), broken };
}

describe('scenarios', () => {
  for (const file of readdirSync(folder)) {
    it(file.replace('.txt', '').replaceAll('-', ' '), () => {
      const path = join(folder, file);
      const expected = readFileSync(path, 'utf8');
      const { text, broken } = transcript(expected);
      expect(broken).toEqual([]);
      if (process.env['UPDATE_SCENARIOS'] === '1') writeFileSync(path, text);
      else expect(text).toBe(expected);
    });
  }
});
