/**
 * Port of a place for whole objects that outlives machines: a folder, a bucket. Objects are small enough to be held in memory;
 * what is larger is several objects.
 *
 * Names are words of letters, digits, `.`, `_`, `=` and `-` between slashes, at most OBJECT_NAME_LENGTH_MAX characters; no word is
 * `.` or `..`. Every call throws EngineError `unavailable` when the place does not answer (try again), `storage` when it refuses or
 * what it holds is damaged.
 */

export interface ObjectStore {
  /** When it resolves the object is durable, and every reader sees all of it. Replaces one of this name; up to OBJECT_BYTES_MAX. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Undefined when there is none; never a part of one. The caller owns the bytes. */
  get(name: string): Promise<Uint8Array | undefined>;
  /** Names that begin with `prefix`, which ends in a slash or is empty, in the order of their characters. */
  list(prefix: string): Promise<readonly string[]>;
  /** Deleting what is not there is no error. */
  delete(name: string): Promise<void>;
}
