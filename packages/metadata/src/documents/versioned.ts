/** Documents are JSON objects with a version; a reader says clearly whether one is damaged or newer than itself. */

import { EngineError, isEngineError } from '@engine/domain';
import { decodeUtf8Strict, encodeUtf8 } from '@engine/stdx';
import type { z } from 'zod';

export interface DocumentFormat<T> {
  /** For people: `the partition table`. */
  readonly what: string;
  /** Version that this code writes and the highest that it reads. */
  readonly version: number;
  /** Strict; reads every version up to `version`. */
  readonly schema: z.ZodType<T>;
}

/** What is undefined in code is left out of the document. */
export function maybe<T extends z.ZodType>(type: T) {
  return type.optional().transform((value): z.output<T> | undefined => value);
}

/** Read back before it is handed out, so that nothing is stored that cannot be loaded. Throws EngineError META0005. */
export function writeDocument<T>(format: DocumentFormat<T>, content: object): Uint8Array {
  const bytes = encodeUtf8(JSON.stringify({ version: format.version, ...content }, printable));
  readDocument(format, bytes);
  return bytes;
}

/**
 * Throws EngineError META0010 when a newer server wrote the document, META0005 when the bytes are no document of a version that this
 * code reads.
 */
export function readDocument<T>(format: DocumentFormat<T>, bytes: Uint8Array): T {
  try {
    const json: unknown = JSON.parse(decodeUtf8Strict(bytes));
    refuseNewer(format, json);
    return format.schema.parse(json);
  } catch (cause) {
    if (isEngineError(cause)) throw cause;
    throw new EngineError('META0005', `${format.what} cannot be read`, { cause });
  }
}

function refuseNewer({ what, version }: DocumentFormat<unknown>, json: unknown): void {
  if (typeof json !== 'object' || json === null || !('version' in json)) return;
  const found = json.version;
  if (typeof found !== 'number' || found <= version) return;
  const message = `${what} has version ${String(found)}; this server reads up to ${String(version)}`;
  throw new EngineError('META0010', message);
}

/** 64-bit numbers stand in the document as decimal text. */
function printable(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
