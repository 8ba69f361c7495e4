// What a reviewer should not have to look for. Each rule gives the places that break it; tidy.test.ts runs them.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { storeys } from './storeys.cjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Words that do not belong on the main branch, and what to do instead. Spelled in two parts so that this file may stay. */
const BANNED: readonly (readonly [RegExp, string])[] = [
  [/\bFIX(?:ME)\b/, 'do it, or say TODO(#issue)'],
  [/\bX(?:XX)\b/, 'say what is wrong in a sentence'],
  [/eslint-disable(?!.*--)/, 'say why after --, or obey the rule'],
  [/@ts-(?:ignore|nocheck)/, 'mend the type'],
  [/\b(?:it|test|describe)\.only\(/, 'run every test'],
  [/(?:registry\.npm)js\.org/, 'name no registry'],
];

const TEXT = /\.(?:ts|tsx|mjs|cjs|proto|md|json|ya?ml|toml|txt|sh)$/;
const SKIPPED = new Set(['node_modules', 'dist', 'gen', '.git', 'engine-data', 'coverage']);

export function packageNames(): string[] {
  return readdirSync(join(root, 'packages')).filter((name) =>
    existsSync(join(root, 'packages', name, 'package.json')),
  );
}

/** Packages that stand on no storey, so that no arrow is checked for them. */
export function homelessPackages(): string[] {
  const known = new Set(storeys.flat());
  return packageNames().filter((name) => !known.has(name));
}

/** Packages without a README, a front door, or a line in the map of the tree. */
export function unfurnishedPackages(): string[] {
  const map = textOf('README.md');
  return packageNames().flatMap((name) => {
    const missing = ['README.md', 'src/index.ts'].filter(
      (file) => !existsSync(join(root, 'packages', name, file)),
    );
    const lines = missing.map((file) => `packages/${name} has no ${file}`);
    const isOnMap = new RegExp(`(?:^|[\\s\`/])${name}(?:[\\s\`/]|$)`, 'm').test(map);
    return isOnMap ? lines : [...lines, `README.md does not name ${name} in its map`];
  });
}

/** Front doors that do more than open: `export *`, or a statement that is no re-export. */
export function busyFrontDoors(): string[] {
  return packageNames().flatMap((name) => {
    const path = `packages/${name}/src/index.ts`;
    const text = textOf(path).replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, '');
    const statements = text.split(';').map((statement) => statement.trim());
    return statements
      .filter((statement) => statement !== '' && !/^export (?:type )?(?:\{|\* as )/.test(statement))
      .map((statement) => `${path}: ${statement.split('\n')[0] ?? ''}`);
  });
}

/** Error codes without a page for people who meet them. */
export function codesWithoutPage(): string[] {
  const codes = new Set(
    textOf('packages/domain/src/error-codes.ts').match(/\b(?:RT|META)\d{4}\b/g),
  );
  return [...codes].filter((code) => !existsSync(join(root, 'docs/errors', `${code}.md`)));
}

/** Every place with a banned word, as `path:line: what to do`. */
export function bannedWords(): string[] {
  return textFiles('.').flatMap((path) =>
    textOf(path)
      .split('\n')
      .flatMap((line, index) =>
        BANNED.filter(([word]) => word.test(line)).map(
          ([, advice]) => `${path}:${index + 1}: ${advice}`,
        ),
      ),
  );
}

/** Links between pages that lead nowhere. */
export function brokenLinks(): string[] {
  return textFiles('.')
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) => {
      const links = textOf(path).matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g);
      return [...links]
        .map(([, target = '']) => join(path, '..', target))
        .filter((target) => !existsSync(join(root, target)))
        .map((target) => `${path} links to ${target}`);
    });
}

function textFiles(dir: string): string[] {
  return readdirSync(join(root, dir))
    .filter((name) => !SKIPPED.has(name))
    .map((name) => join(dir, name))
    .flatMap((path) => {
      if (statSync(join(root, path)).isDirectory()) return textFiles(path);
      return TEXT.test(path) && !path.endsWith('pnpm-lock.yaml') ? [path] : [];
    });
}

function textOf(path: string): string {
  const absolute = join(root, path);
  return existsSync(absolute) ? readFileSync(absolute, 'utf8') : '';
}
