/** Paths below a deployment's URI and the encoding of what stands in request headers. */

/**
 * Appends `suffix` to the path of a registered URI; one slash at its end goes, its query stays behind the joined path.
 *
 * `target` is path and query, `/pre/fix?q=1`; the empty string stands for `/`.
 */
export function joinPath(target: string, suffix: string): string {
  const queryStart = target.indexOf('?');
  const path = queryStart < 0 ? target : target.slice(0, queryStart);
  const query = queryStart < 0 ? '' : target.slice(queryStart);
  return `${path.endsWith('/') ? path.slice(0, -1) : path}/${suffix}${query}`;
}

/** Suffix of the discovery request. */
export const DISCOVER_SUFFIX = 'discover';

/** Suffix of an invocation. Both names match patterns that need no encoding. */
export function invokeSuffix(service: string, handler: string): string {
  return `invoke/${service}/${handler}`;
}

/** Percent-encodes everything but `A-Za-z0-9-_.~`, as the header with the key of an object or workflow needs it. */
export function encodeKeyHeader(key: string): string {
  return encodeURIComponent(key).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
