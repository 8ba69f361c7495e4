/**
 * The file FORMAT in a store directory: which layout the data has, and whose data it is. It is checked before the store is
 * opened, so a refusal leaves everything as it was.
 */

import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { EngineError, type ConditionCode, type ErrorCode } from '@engine/domain';

import { isMissing, writeWhole } from './whole-file.js';

/** Layout that this code writes. Numbers retire, they never return. */
export const STORE_FORMAT = 1;

/** Layouts that this code reads: its own and the one before. */
const FORMAT_MIN = 1;

const FORMAT_FILE = 'FORMAT';

/** What a fresh volume may contain and is still empty. */
const IGNORED_NAMES: ReadonlySet<string> = new Set(['lost+found', `${FORMAT_FILE}.tmp`]);

/** Which codes report a directory that cannot be used, and what people call it. */
export interface StoreKind {
  readonly what: string;
  /** In the FORMAT file, so that no directory is taken for the other one. */
  readonly word: string;
  readonly missingCode: ErrorCode;
  readonly mismatchCode: ErrorCode;
  readonly damagedCode: ErrorCode | ConditionCode;
}

export const PARTITION_STORE: StoreKind = {
  what: 'the worker storage directory',
  word: 'partitions',
  missingCode: 'RT0009',
  mismatchCode: 'RT0009',
  damagedCode: 'storage',
};

/** Stores of a cluster, whose logs are elsewhere. A process without cluster does not read them, nor the other way round. */
export const REPLICA_STORE: StoreKind = { ...PARTITION_STORE, word: 'replicas' };

export const METADATA_STORE: StoreKind = {
  what: 'the metadata storage directory',
  word: 'metadata',
  missingCode: 'META0011',
  mismatchCode: 'META0010',
  damagedCode: 'META0005',
};

/**
 * True when the directory holds data that this code reads, false when there is nothing in it. Effects: none.
 *
 * Throws EngineError with the codes of `kind` when the data has no format, one that this code does not read, or is other data.
 */
export async function checkDirectory(directory: string, kind: StoreKind): Promise<boolean> {
  const names = (await namesIn(directory, kind)).filter((name) => !IGNORED_NAMES.has(name));
  if (names.length === 0) return false;
  const about = `${kind.what} ${directory}`;
  if (!names.includes(FORMAT_FILE)) {
    const message = `${about} holds data but no storage format version`;
    throw new EngineError(kind.missingCode, message, { details: { directory } });
  }
  const text = (await readFile(join(directory, FORMAT_FILE), 'utf8')).trim();
  const problem = problemOf(text, kind);
  if (problem === undefined) return true;
  throw new EngineError(kind.mismatchCode, `${about} ${problem}`, {
    details: { directory, format: text },
  });
}

/** Makes the directory with its FORMAT file, or checks the one that is there, as `checkDirectory` does. */
export async function prepareDirectory(directory: string, kind: StoreKind): Promise<void> {
  if (await checkDirectory(directory, kind)) return;
  await mkdir(directory, { recursive: true });
  await writeWhole(directory, FORMAT_FILE, `${String(STORE_FORMAT)} ${kind.word}\n`);
}

/** The format is a number and, where it was not left out, the word of the kind. */
function problemOf(text: string, kind: StoreKind): string | undefined {
  const [, number, word] = /^(\d+)(?: ([a-z]+))?$/.exec(text) ?? [];
  const format = Number(number);
  if (!(format >= FORMAT_MIN && format <= STORE_FORMAT)) {
    const range = `${String(FORMAT_MIN)} to ${String(STORE_FORMAT)}`;
    return `has storage format '${text.slice(0, 100)}'; this server reads ${range}`;
  }
  if (word === undefined || word === kind.word) return undefined;
  return `holds '${word}' and not '${kind.word}'; is the path that of another directory?`;
}

async function namesIn(directory: string, kind: StoreKind): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (cause) {
    if (isMissing(cause)) return [];
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `${kind.what} ${directory} cannot be read: ${reason}`;
    throw new EngineError('storage', message, { cause, details: { directory } });
  }
}
