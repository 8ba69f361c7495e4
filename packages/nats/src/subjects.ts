/** Every stream, bucket and subject of a cluster, by name. Nothing else in the house spells one. */

import type { PartitionId } from '@engine/domain';

/** Which log: a restore that loses a tail begins a new incarnation, under a new name beside the old one. */
export interface LogIdentity {
  readonly cluster: string;
  readonly partition: PartitionId;
  /** From 1. */
  readonly incarnation: bigint;
}

/** The stream of a partition's log. */
export function logStream(identity: LogIdentity): string {
  const { cluster, partition, incarnation } = identity;
  return `engine_${word(cluster)}_log_${String(partition)}_${String(incarnation)}`;
}

/** The subject under which a partition's records are published. */
export function logSubject(identity: LogIdentity): string {
  const { cluster, partition, incarnation } = identity;
  return `engine.${token(cluster)}.log.${String(partition)}.${String(incarnation)}`;
}

/** The bucket of a cluster's documents and leases. */
export function metadataBucket(cluster: string): string {
  return `engine_${word(cluster)}_metadata`;
}

/** The bucket of a cluster's objects: snapshots. */
export function objectBucket(cluster: string): string {
  return `engine_${word(cluster)}_objects`;
}

/** The stream under a bucket of objects, as the client library names it. */
export function objectStream(bucket: string): string {
  return `OBJ_${bucket}`;
}

/** Subjects of what a bucket says of its objects; the rest of each is the name in base64url. */
export function objectMetaPrefix(bucket: string): string {
  return `$O.${bucket}.M.`;
}

/** The subject under which a bucket says what it has of an object. */
export function objectMetaSubject(bucket: string, name: string): string {
  const encoded = Buffer.from(name).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
  return `${objectMetaPrefix(bucket)}${encoded}`;
}

/** The name of an object whose subject is `subject`. */
export function objectName(bucket: string, subject: string): string {
  return Buffer.from(subject.slice(objectMetaPrefix(bucket).length), 'base64url').toString();
}

/** The subject under which a bucket keeps the pieces of an object. */
export function objectPieces(bucket: string, nuid: string): string {
  return `$O.${bucket}.C.${nuid}`;
}

/** The key of a document. Words of a name become words of a subject, so that a prefix can be listed. */
export function documentKey(name: string): string {
  return name.split('/').map(token).join('.');
}

/** The document of a key. Throws URIError for a key that `documentKey` did not make. */
export function documentName(key: string): string {
  return decodeURIComponent(key.replaceAll('.', '/').replaceAll('=', '%'));
}

/** For names of streams and buckets, which allow less: `_` in the place of `=`. */
function word(text: string): string {
  return token(text).replaceAll('=', '_');
}

/** Letters, digits and `-` as they are, every other byte as `=` and two hex digits. */
function token(text: string): string {
  let out = '';
  for (const byte of new TextEncoder().encode(text)) {
    const char = String.fromCharCode(byte);
    out += /[A-Za-z0-9-]/.test(char) ? char : `=${byte.toString(16).padStart(2, '0')}`;
  }
  return out;
}
