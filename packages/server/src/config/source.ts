// Where settings come from: a TOML file, the environment, flags. Each becomes a list of settings with its place, so that a
// bad value is reported where somebody wrote it.
import { EngineError } from '@engine/domain';
import { parse as parseToml, TomlError } from 'smol-toml';
import { placesOf } from './toml-places.js';

/** One value somebody wrote. `path` has dashes: `worker.invoker.abort-timeout` → three parts. */
export interface Setting {
  readonly path: readonly string[];
  readonly value: unknown;
  /** For people: `engine.toml line 4`, `environment variable ENGINE_BASE_DIR`, `flag --base-dir`. */
  readonly place: string;
}

/** Throws RT0002 with line and column when the text is no TOML, or when a key stands there in both spellings. */
export function settingsOfToml(text: string, file: string): Setting[] {
  const places = placesOf(text);
  const settings: Setting[] = [];
  const visit = (value: unknown, path: readonly string[]): void => {
    if (isTable(value) && (path.length === 0 || Object.keys(value).length > 0)) {
      refuseBothSpellings(value, file);
      for (const [key, inner] of Object.entries(value)) visit(inner, [...path, dashed(key)]);
    } else {
      const line = places.get(path.join('.'));
      settings.push({ path, value, place: line === undefined ? file : `${file} line ${line}` });
    }
  };
  visit(parsed(text, file), []);
  return settings;
}

/** Variables that are no keys: where the file is, and what loggers say before it has been read. */
const NO_KEYS = new Set(['ENGINE_CONFIG']);

/** Variables of others that are keys here too; the key's own variable wins. */
const FOREIGN: Readonly<Record<string, readonly string[]>> = {
  AWS_EXTERNAL_ID: ['worker', 'invoker', 'aws-assume-role-external-id'],
};

export interface EnvironmentSettings {
  readonly settings: readonly Setting[];
  /**
   * Variables with our prefix that are no key. They are reported and not refused: Kubernetes itself sets some, such as
   * ENGINE_SERVICE_HOST beside a service called engine. With `__` in the name they are meant for us, and are settings.
   */
  readonly ignored: readonly string[];
}

/** `ENGINE_WORKER__INVOKER__ABORT_TIMEOUT` → worker.invoker.abort-timeout. */
export function settingsOfEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  isTopLevelKey: (key: string) => boolean,
): EnvironmentSettings {
  const settings: Setting[] = [];
  const ignored: string[] = [];
  for (const [variable, path] of Object.entries(FOREIGN)) {
    const value = env[variable];
    // Others may leave it empty, and for them that means unset.
    if (value === undefined || value === '') continue;
    settings.push({ path, value, place: `environment variable ${variable}` });
  }
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith('ENGINE_') || value === undefined || NO_KEYS.has(variable)) continue;
    const path = variable
      .slice('ENGINE_'.length)
      .split('__')
      .map((part) => dashed(part.toLowerCase()));
    if (path.length === 1 && !isTopLevelKey(path[0] ?? '')) ignored.push(variable);
    else settings.push({ path, value, place: `environment variable ${variable}` });
  }
  return { settings, ignored };
}

/** Flags named as top-level keys: `--base-dir data` → base-dir. */
export function settingsOfFlags(flags: Readonly<Record<string, string>>): Setting[] {
  return Object.entries(flags).map(([key, value]) => ({
    path: [key],
    value,
    place: `flag --${key}`,
  }));
}

function parsed(text: string, file: string): Record<string, unknown> {
  try {
    return parseToml(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason = ''] = error.message.split('\n');
    const place = `${file} line ${error.line}, column ${error.column}`;
    throw new EngineError('RT0002', `${place}: ${reason.replace(/^Invalid TOML document: /, '')}`, {
      cause: error,
    });
  }
}

function refuseBothSpellings(table: Record<string, unknown>, file: string): void {
  for (const key of Object.keys(table)) {
    if (dashed(key) === key || !(dashed(key) in table)) continue;
    throw new EngineError('RT0002', `${file}: ${key} and ${dashed(key)} are the same key`);
  }
}

function isTable(value: unknown): value is Record<string, unknown> {
  const isObject = typeof value === 'object' && value !== null;
  return isObject && !Array.isArray(value) && !(value instanceof Date);
}

function dashed(key: string): string {
  return key.replaceAll('_', '-');
}
