import { readFileSync } from 'node:fs';
import { EngineError } from '@engine/domain';
import { isTopLevelKey, readConfig, type LoadedConfig } from './config.js';
import { settingsOfEnvironment, settingsOfFlags, settingsOfToml } from './source.js';

export interface ConfigInputs {
  /** From --config-file; else ENGINE_CONFIG; else no file is read. */
  readonly file?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Flags that are keys, without their dashes. */
  readonly flags: Readonly<Record<string, string>>;
}

/** File, then environment, then flags; the later wins. Throws RT0002. `ignored` names variables that look like ours. */
export function loadConfig(
  inputs: ConfigInputs,
): LoadedConfig & { readonly ignored: readonly string[] } {
  const file = inputs.file ?? inputs.env['ENGINE_CONFIG'];
  const fromFile = file === undefined ? [] : settingsOfToml(readText(file), file);
  const { settings, ignored } = settingsOfEnvironment(inputs.env, isTopLevelKey);
  const loaded = readConfig([...fromFile, ...settings, ...settingsOfFlags(inputs.flags)]);
  return { ...loaded, ignored };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new EngineError('RT0002', `the configuration file can't be read: ${reason}`, {
      cause: error,
    });
  }
}
