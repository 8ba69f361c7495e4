// docs/design/limits.md names every limit there is, with its value, and nothing that is not there.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('..', import.meta.url));
const PAGE = 'docs/design/limits.md';
const CONSTANT = /^(?:export )?const ([A-Z][A-Z0-9_]*) = ([^;]+);/gm;
const EXPORTED = /^export const ([A-Z][A-Z0-9_]*) = ([^;]+);/gm;

interface Row {
  readonly name: string;
  readonly value: number;
  readonly key: string;
  readonly effect: string;
  readonly test: string;
}

const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The tables of the page by their package. */
function pageRows(): Map<string, Row[]> {
  const packages = new Map<string, Row[]>();
  for (const section of textOf(PAGE).split('\n## ').slice(1)) {
    const [name = ''] = /`([a-z-]+)`/.exec(section)?.slice(1) ?? [];
    const lines = section.split('\n').filter((line) => line.startsWith('| `'));
    packages.set(
      name,
      lines.map((line) => {
        const [limit = '', value = '', key = '', effect = '', test = ''] = line
          .split('|')
          .slice(1)
          .map((cell) => cell.trim().replace(/^`(.*)`$/, '$1'));
        return { name: limit, value: valueOf(value), key, effect, test };
      }),
    );
  }
  return packages;
}

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  ms: 1,
  s: 1_000,
  min: 60_000,
  days: 86_400_000,
};

function valueOf(cell: string): number {
  const [, digits = '', unit = ''] = /^([\d.,]+) ?([A-Za-z]*)$/.exec(cell) ?? [];
  return Number(digits.replaceAll(',', '')) * (UNITS[unit] ?? Number.NaN);
}

const DOMAIN_LIMITS = 'packages/domain/src/limits.ts';

/** What the constants of a file are written as. */
function constantsOf(path: string): Map<string, string> {
  return new Map(
    [...textOf(path).matchAll(CONSTANT)].map(([, name = '', value = '']) => [name, value]),
  );
}

/** Exported numbers of a file that are sums of products of numbers, of other constants of the file, and of limits of the domain. */
function limitsOf(path: string): [name: string, value: number][] {
  const text = textOf(path);
  const own = constantsOf(path);
  const ofDomain = constantsOf(DOMAIN_LIMITS);
  const factorOf = (factor: string, known: ReadonlyMap<string, string>): number => {
    const shared = /^limits\.(\w+)$/.exec(factor)?.[1];
    if (shared !== undefined) return evaluate(ofDomain.get(shared) ?? '?', ofDomain);
    const meant = known.get(factor);
    return meant === undefined ? Number(factor.replaceAll('_', '')) : evaluate(meant, known);
  };
  const productOf = (product: string, known: ReadonlyMap<string, string>): number =>
    product.split('*').reduce((value, factor) => value * factorOf(factor.trim(), known), 1);
  const evaluate = (expression: string, known: ReadonlyMap<string, string> = own): number =>
    expression
      .split(/ (?=[+-] )/)
      .map((term) => (/^[+-] /.test(term) ? [term.slice(0, 1), term.slice(2)] : ['+', term]))
      .reduce((sum, [sign, product = '']) => {
        const value = productOf(product, known);
        return sign === '-' ? sum - value : sum + value;
      }, 0);
  return [...text.matchAll(EXPORTED)].flatMap(([, name = '', value = '']) => {
    const evaluated = evaluate(value);
    return Number.isNaN(evaluated) ? [] : [[name, evaluated]];
  });
}

/** Files with limits: the `limits.ts` of each package; in the worker they stand where they are used. */
function limitFiles(): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const name of readdirSync(join(root, 'packages'))) {
    const path = `packages/${name}/src/limits.ts`;
    if (existsSync(join(root, path))) files.set(name, [path]);
  }
  const sources = readdirSync(join(root, 'packages/worker/src'), { recursive: true })
    .map((path) => `packages/worker/src/${String(path)}`)
    .filter((path) => path.endsWith('.ts') && !/\.test\.ts$|\/testing\//.test(path));
  return files.set('worker', sources);
}

describe('the page of limits', () => {
  const page = pageRows();

  it.each([...limitFiles()])('has each limit of %s with its value', (name, files) => {
    const inCode = Object.fromEntries(files.flatMap(limitsOf));
    const rows = page.get(name) ?? [];
    expect(Object.fromEntries(rows.map((row) => [row.name, row.value]))).toEqual(inCode);
    expect(rows).toHaveLength(Object.keys(inCode).length);
  });

  it('speaks of no package without limits', () => {
    expect([...page.keys()].filter((name) => !limitFiles().has(name))).toEqual([]);
  });

  it('names configuration keys and tests that exist', () => {
    const keys = textOf('docs/configuration.md');
    for (const { name, key, test } of [...page.values()].flat()) {
      if (key !== '–')
        expect(`${name} ${String(keys.includes(`\`${key}\``))}`).toBe(`${name} true`);
      if (test !== '–')
        expect(`${test} ${String(existsSync(join(root, test)))}`).toBe(`${test} true`);
    }
  });
});
