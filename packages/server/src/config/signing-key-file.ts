import { readFileSync } from 'node:fs';
import { readSigningKey, type SigningKey } from '@engine/request-identity';

/** The key in a file. Throws Error whose message says, for people, what is wrong with the file. */
export function loadSigningKey(path: string): SigningKey {
  try {
    return readSigningKey(readFileSync(path, 'utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`"${path}": ${reason}`, { cause: error });
  }
}
