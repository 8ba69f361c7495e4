// The keys as a table for people, made from the shape: docs/configuration.md shows it.
import { parse as parseToml } from 'smol-toml';
import { z } from 'zod';
import { readConfig } from './config.js';
import { shape } from './shape.js';

export interface ConfigKey {
  /** With dots: `worker.invoker.abort-timeout`. */
  readonly path: string;
  /** As --dump-config writes it; undefined = unset. */
  readonly standard: string | undefined;
  readonly meaning: string;
}

/** Every key in the order of the shape. */
export function configKeys(): ConfigKey[] {
  return keysOf(shape, [], parseToml(readConfig([]).toml));
}

/** The table in Markdown. */
export function configTable(keys: readonly ConfigKey[]): string {
  const rows = keys.map(
    ({ path, standard, meaning }) =>
      `| \`${path}\` | ${standard === undefined ? '' : `\`${standard}\``} | ${meaning} |`,
  );
  return ['| key | default | meaning |', '|---|---|---|', ...rows].join('\n');
}

function keysOf(
  table: z.core.$ZodObject,
  path: readonly string[],
  standards: Readonly<Record<string, unknown>>,
): ConfigKey[] {
  return Object.entries(table._zod.def.shape).flatMap(([key, field]) => {
    const inner = field instanceof z.ZodPrefault ? field.unwrap() : field;
    const standard = standards[key];
    if (inner instanceof z.ZodObject) {
      return keysOf(inner, [...path, key], (standard ?? {}) as Record<string, unknown>);
    }
    const meaning = z.globalRegistry.get(field)?.description ?? '';
    return [{ path: [...path, key].join('.'), standard: textOf(standard), meaning }];
  });
}

function textOf(standard: unknown): string | undefined {
  return standard === undefined ? undefined : JSON.stringify(standard);
}
