/** Every documented code has a page and a line in the index, and both say what the error table says. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';
import { ERROR_CODES, type ErrorCode } from '@engine/domain';

import { PLACES } from './sighting.js';
import { ERROR_TABLE } from './table.js';

const DIRECTORY = join(import.meta.dirname, '..', '..', '..', '..', 'docs', 'errors');
const SECTIONS = ['Meaning', 'Likely causes', 'What to do', 'Where it shows'];
const NOT_YET = 'Not raised yet by this version';

const pageOf = (code: ErrorCode): string => readFileSync(join(DIRECTORY, `${code}.md`), 'utf8');

/** What stands in a section, as lines. */
function section(page: string, title: string): string[] {
  const [, body = ''] = page.split(`\n## ${title}\n`);
  return (body.split('\n## ')[0] ?? '').split('\n').filter((line) => line !== '');
}

describe('the page of', () => {
  it.each(ERROR_CODES)('%s', (code) => {
    const page = pageOf(code);
    expect(page.startsWith(`# ${code}: `)).toBe(true);
    const titles = [...page.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
    expect(titles).toEqual(SECTIONS);
    for (const title of SECTIONS) expect(section(page, title)).not.toEqual([]);
  });

  it.each(ERROR_CODES)('%s names the places of the table, and no others', (code) => {
    const line = ERROR_TABLE[code];
    const where = section(pageOf(code), 'Where it shows');
    const named = where.filter((each) => each.startsWith('- '));
    expect(
      named.map((each) =>
        each
          .slice(2)
          .split(/[:(]| of `/)[0]
          ?.trim(),
      ),
    ).toEqual(line.shows.map((place) => PLACES[place].page));
    expect(where.join(' ').includes(NOT_YET)).toBe('later' in line);
  });
});

describe('the index', () => {
  const rows = readFileSync(join(DIRECTORY, 'README.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ['))
    .map((line) => line.split('|').map((cell) => cell.trim()));

  it('has a line for each code, in their order, and no page is without one', () => {
    const links = ERROR_CODES.map((code) => `[${code}](${code}.md)`);
    expect(rows.map(([, link]) => link)).toEqual(links);
    const pages = readdirSync(DIRECTORY).filter((name) => name !== 'README.md');
    expect(pages.sort()).toEqual(ERROR_CODES.map((code) => `${code}.md`).sort());
  });

  it('says where each shows, as the table does', () => {
    const shown = ERROR_CODES.map((code) => {
      const line = ERROR_TABLE[code];
      const places = line.shows.map((place) => PLACES[place].index).join(', ');
      return [code, 'later' in line ? `${places} (not raised yet)` : places];
    });
    expect(rows.map(([, link, , where]) => [link?.slice(1, link.indexOf(']')), where])).toEqual(
      shown,
    );
  });
});
