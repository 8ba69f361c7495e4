/** Registered URIs taken apart once: origin to connect to, path to join, query to keep. */

import { joinPath } from '@engine/service-protocol';

export interface EndpointPath {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Header for the credentials that stand in the URI. */
  readonly authorization: string | undefined;
  /** Path and query of a request; `suffix` starts with a slash. */
  readonly join: (suffix: string) => string;
}

/** Deployments that are spoken to are few; the limit only keeps a stream of new ones from growing the cache for ever. */
const ENDPOINTS_MAX = 4_096;

export class EndpointPaths {
  readonly #known = new Map<string, EndpointPath>();

  /** Throws TypeError when `uri` is none: registration has checked it. */
  of(uri: string): EndpointPath {
    const known = this.#known.get(uri);
    if (known !== undefined) return known;
    const url = new URL(uri);
    const target = `${url.pathname}${url.search}`;
    const path = {
      origin: url.origin,
      authorization: authorizationOf(url),
      join: (suffix: string) => joinPath(target, suffix.slice(1)),
    };
    if (this.#known.size >= ENDPOINTS_MAX) this.#known.clear();
    this.#known.set(uri, path);
    return path;
  }
}

function authorizationOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

/** The headers of a request to an endpoint; those that were asked for win. */
export function endpointHeaders(
  { authorization }: EndpointPath,
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return authorization === undefined ? headers : { authorization, ...headers };
}
