/**
 * Golden transcripts: `scenarios/*.txt` hold inputs (`> …`), the time in ms (`@ …`) and, indented, what came of each. Run with
 * UPDATE_SCENARIOS=1 to write them anew, then review the difference.
 */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { parseInput, printStep } from '../testing/leadership-script.js';
import { Leadership } from './leadership.js';

const folder = join(import.meta.dirname, '..', '..', 'scenarios');

function transcript(script: string): string {
  const machine = new Leadership({ handoverPatienceMs: 15_000 });
  const lines: string[] = [];
  let now = 0;
  let read = 0;
  for (const line of script.split('\n')) {
    if (line.startsWith('  ')) continue;
    lines.push(line);
    if (line.startsWith('@ ')) now = Number(line.slice(2));
    if (!line.startsWith('> ')) continue;
    const actions = machine.step(parseInput(line.slice(2), read), now);
    for (const action of actions) if (action.kind === 'read-to-end') read = action.read;
    lines.push(...printStep(actions, machine));
  }
  return lines.join('\n');
}

describe('scenarios of one partition on one node', () => {
  for (const file of readdirSync(folder)) {
    it(file.replace('.txt', '').replaceAll('-', ' '), () => {
      const path = join(folder, file);
      const expected = readFileSync(path, 'utf8');
      const text = transcript(expected);
      if (process.env['UPDATE_SCENARIOS'] === '1') writeFileSync(path, text);
      else expect(text).toBe(expected);
    });
  }
});
