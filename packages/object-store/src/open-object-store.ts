/** The object store that a destination names. */

import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';

import { EngineError } from '@engine/domain';
import type { Clock } from '@engine/runtime';
import type { ObjectStore } from '@engine/snapshots';

import { FolderObjectStore } from './folder-object-store.js';
import { S3ObjectStore, type S3Options } from './s3-object-store.js';

/** Where AWS is and who we are for it. */
export type AwsOptions = Pick<S3Options, 'region' | 'endpoint' | 'credentials'>;

/**
 * `s3://bucket/prefix`, `file:///directory`, or the absolute path of a directory.
 *
 * Throws EngineError `bad-request` for any other text, `storage` when the directory cannot be written.
 */
export async function openObjectStore(
  destination: string,
  aws: AwsOptions,
  { clock }: { readonly clock: Clock },
): Promise<ObjectStore> {
  if (isAbsolute(destination)) return FolderObjectStore.open(destination, clock.now());
  const url = URL.parse(destination);
  if (url?.protocol === 'file:' && url.host === '') {
    return FolderObjectStore.open(fileURLToPath(url), clock.now());
  }
  if (url?.protocol === 's3:' && url.host !== '') {
    const prefix = decodeURIComponent(url.pathname).replaceAll(/^\/+|\/+$/g, '');
    return new S3ObjectStore({ ...aws, bucket: url.host, prefix });
  }
  const message = `'${destination}' is no destination of snapshots: s3://bucket/prefix or file:///directory`;
  throw new EngineError('bad-request', message);
}
