/** Small files that are there whole or not at all. */

import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';

/** Puts the file in the place of one with its name; durable when it resolves. */
export async function writeWhole(directory: string, name: string, text: string): Promise<void> {
  const path = join(directory, name);
  const file = await open(`${path}.tmp`, 'w');
  try {
    await file.writeFile(text);
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

/** The text of the file, undefined when there is none. */
export async function readWhole(directory: string, name: string): Promise<string | undefined> {
  try {
    return await readFile(join(directory, name), 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

export function isMissing(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';
}
