import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { configKeys, configTable } from './key-table.js';

const PAGE = join(import.meta.dirname, '../../../../docs/configuration.md');

/** Cells without the padding that a formatter adds. */
function rows(table: string): string[] {
  const lines = table.split('\n').filter((line) => line.startsWith('| `'));
  return lines.map((line) => line.replaceAll(/\s*\|\s*/g, '|'));
}

describe('the table of configuration keys', () => {
  it('has a meaning for each', () => {
    expect(configKeys().filter(({ meaning }) => meaning === '')).toEqual([]);
  });

  it('is the one in docs/configuration.md', () => {
    expect(rows(readFileSync(PAGE, 'utf8'))).toEqual(rows(configTable(configKeys())));
  });
});
