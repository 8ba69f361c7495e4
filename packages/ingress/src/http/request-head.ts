/**
 * One pass over the raw header fields of a request: what the ingress itself reads, and what the handler gets to see. Raw,
 * because of a repeated header only the first value counts and bytes must be judged as they came.
 */

import type { Header } from '@engine/domain';

export interface NamedValue {
  readonly name: string;
  readonly value: string;
}

export interface RequestHead {
  /** Headers for the handler in the order of arrival, names in lower case. */
  readonly forwarded: Header[];
  /** NaN when the client sent something that is no number. */
  readonly contentLength: number | undefined;
  readonly isChunked: boolean;
  readonly contentType: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly limitKey: NamedValue | undefined;
  readonly origin: string | undefined;
  readonly preflightMethod: string | undefined;
  readonly preflightHeaders: string | undefined;
}

const NOT_VISIBLE_ASCII = /[^\t\x20-\x7e]/;
const COLON = 0x3a;
/** The path under both names stands in front of what the caller sent. */
const OWN_HEADERS = 2;

/** True when every character is visible ASCII, blank or tab. */
export function isVisibleAscii(value: string): boolean {
  return !NOT_VISIBLE_ASCII.test(value);
}

/**
 * @param rawHeaders names and values in turn, as the platform gives them (pseudo headers of HTTP/2 are passed over)
 * @param ingressPath path and query as received; the handler sees it as its first headers
 */
export function readHead(rawHeaders: readonly string[], ingressPath: string): RequestHead {
  const forwarded: Header[] = [
    { key: 'x-engine-ingress-path', value: ingressPath },
    { key: 'x-restate-ingress-path', value: ingressPath },
  ];
  const head: { -readonly [K in keyof RequestHead]: RequestHead[K] } = {
    forwarded,
    contentLength: undefined,
    isChunked: false,
    contentType: undefined,
    idempotencyKey: undefined,
    limitKey: undefined,
    origin: undefined,
    preflightMethod: undefined,
    preflightHeaders: undefined,
  };
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? '').toLowerCase();
    const value = rawHeaders[i + 1] ?? '';
    switch (name) {
      case 'connection':
      case 'host':
      case 'idempotency-expires':
        continue;
      case 'idempotency-key':
        head.idempotencyKey ??= value;
        continue;
      case 'content-length':
        head.contentLength ??= Number(value);
        break;
      case 'transfer-encoding':
        head.isChunked = true;
        break;
      case 'content-type':
        head.contentType ??= value;
        break;
      case 'x-engine-limit-key':
      case 'x-restate-limit-key':
        head.limitKey ??= { name, value };
        break;
      case 'origin':
        head.origin ??= value;
        break;
      case 'access-control-request-method':
        head.preflightMethod ??= value;
        break;
      case 'access-control-request-headers':
        head.preflightHeaders ??= value;
        break;
      default:
        if (name.charCodeAt(0) === COLON) continue;
    }
    if (!isRepeated(forwarded, name)) forwarded.push({ key: name, value });
  }
  return head;
}

/** Name of the caller's first header for the handler whose value is not visible ASCII. */
export function findBadHeader(head: RequestHead): string | undefined {
  for (let i = OWN_HEADERS; i < head.forwarded.length; i += 1) {
    const header = head.forwarded[i];
    if (header !== undefined && !isVisibleAscii(header.value)) return header.key;
  }
  return undefined;
}

// Requests have about ten headers and never more than a hundred: a walk is cheaper than a set.
function isRepeated(headers: readonly Header[], name: string): boolean {
  for (let i = OWN_HEADERS; i < headers.length; i += 1) if (headers[i]?.key === name) return true;
  return false;
}
