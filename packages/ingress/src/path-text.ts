/** Request targets as they were sent. Nothing is normalised but the slashes at both ends; keys may be `..` or empty. */

import { decodeUtf8Strict } from '@engine/stdx';

export interface RequestTarget {
  /** Path with one leading slash and none at the end. */
  readonly path: string;
  /** Without the question mark; undefined when there is none. */
  readonly query: string | undefined;
}

const SLASH = 0x2f;
const PERCENT = 0x25;
const ABSOLUTE_FORM = /^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i;
const utf8 = new TextEncoder();

/** Splits the target and trims its slashes. Of an absolute target only path and query count. */
export function parseRequestTarget(target: string): RequestTarget {
  let text = target;
  if (text.charCodeAt(0) !== SLASH && ABSOLUTE_FORM.test(text)) {
    text = text.replace(ABSOLUTE_FORM, '');
    if (text.charCodeAt(0) !== SLASH) text = `/${text}`;
  }
  const mark = text.indexOf('?');
  if (mark < 0) return { path: trimSlashes(text), query: undefined };
  return { path: trimSlashes(text.slice(0, mark)), query: text.slice(mark + 1) };
}

function trimSlashes(path: string): string {
  let start = 0;
  let end = path.length;
  while (end > 1 && path.charCodeAt(end - 1) === SLASH) end -= 1;
  while (
    start + 1 < end &&
    path.charCodeAt(start + 1) === SLASH &&
    path.charCodeAt(start) === SLASH
  )
    start += 1;
  return path.slice(start, end);
}

/**
 * Percent-decodes one segment. Lenient: a `%` without two hex digits stays, `+` stays. Undefined when the bytes are not
 * UTF-8.
 */
export function decodeSegment(segment: string): string | undefined {
  if (!segment.includes('%')) return segment;
  const bytes = utf8.encode(segment);
  let length = 0;
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i] ?? 0;
    const decoded = byte === PERCENT ? hexByte(bytes[i + 1], bytes[i + 2]) : undefined;
    bytes[length] = decoded ?? byte;
    length += 1;
    if (decoded !== undefined) i += 2;
  }
  try {
    return decodeUtf8Strict(bytes.subarray(0, length));
  } catch {
    return undefined;
  }
}

function hexByte(high: number | undefined, low: number | undefined): number | undefined {
  const h = hexDigit(high);
  const l = hexDigit(low);
  return h === undefined || l === undefined ? undefined : h * 16 + l;
}

function hexDigit(code: number | undefined): number | undefined {
  if (code === undefined) return undefined;
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined;
}
