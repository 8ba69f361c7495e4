/**
 * The file FORMAT in a store directory: which layout the data has. It is checked before the store is opened, so a refusal
 * leaves everything as it was.
 */

import { mkdir, open, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';

import { EngineError, type ErrorCode } from '@engine/domain';

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
  readonly missingCode: ErrorCode;
  readonly mismatchCode: ErrorCode;
}

export const PARTITION_STORE: StoreKind = {
  what: 'the worker storage directory',
  missingCode: 'RT0009',
  mismatchCode: 'RT0009',
};

export const METADATA_STORE: StoreKind = {
  what: 'the metadata storage directory',
  missingCode: 'META0011',
  mismatchCode: 'META0010',
};

/**
 * Makes the directory with its FORMAT file, or checks the one that is there. Effects on an existing directory: none.
 *
 * Throws EngineError with the codes of `kind` when the data has no format, or one that this code does not read.
 */
export async function prepareDirectory(directory: string, kind: StoreKind): Promise<void> {
  await mkdir(directory, { recursive: true });
  const names = (await readdir(directory)).filter((name) => !IGNORED_NAMES.has(name));
  if (names.length === 0) {
    await writeFormat(directory);
    return;
  }
  if (!names.includes(FORMAT_FILE)) {
    throw new EngineError(
      kind.missingCode,
      `${kind.what} ${directory} holds data but no storage format version`,
      { details: { directory } },
    );
  }
  const text = (await readFile(join(directory, FORMAT_FILE), 'utf8')).trim();
  const format = Number(text);
  if (Number.isInteger(format) && format >= FORMAT_MIN && format <= STORE_FORMAT) return;
  throw new EngineError(
    kind.mismatchCode,
    `${kind.what} ${directory} has storage format '${text}'; this server reads ${FORMAT_MIN} to ${STORE_FORMAT}`,
    { details: { directory, format: text } },
  );
}

async function writeFormat(directory: string): Promise<void> {
  const path = join(directory, FORMAT_FILE);
  const file = await open(`${path}.tmp`, 'w');
  try {
    await file.writeFile(`${String(STORE_FORMAT)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.tmp`, path);
  const parent = await open(directory, 'r');
  try {
    await parent.sync();
  } finally {
    await parent.close();
  }
}
