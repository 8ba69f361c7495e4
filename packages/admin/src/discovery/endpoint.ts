/** Where a deployment listens. */

import { EngineError } from '@engine/domain';

/**
 * The URI of a deployment in its normal form: an empty path becomes `/`. A path prefix and a query are kept.
 * Errors: `bad-request` unless it is absolute, http or https, and names a host.
 */
export function normalizeUri(text: string): string {
  const hasAuthority = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]/i.test(text);
  if (!hasAuthority || !URL.canParse(text)) {
    throw new EngineError('bad-request', `bad field 'uri': '${text}' has no scheme and host`);
  }
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new EngineError('bad-request', `bad field 'uri': '${url.protocol}//' is not supported`);
  }
  url.hash = '';
  return url.href;
}

/** Two URIs with the same destination belong to one deployment: scheme and query do not count. */
export function destinationOf(uri: string): string {
  const url = new URL(uri);
  const credentials = url.password === '' ? url.username : `${url.username}:${url.password}`;
  return `${credentials === '' ? '' : `${credentials}@`}${url.host}${url.pathname}`;
}
