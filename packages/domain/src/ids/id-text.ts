/**
 * The common shape of the text ids: `<prefix>_1<body>`, where `1` is the version of the scheme. No checksum.
 *
 * Not here: what a body means. Each kind of id has its own file.
 */

/** Every prefix that the scheme knows, also those that never leave the server. */
const ID_PREFIXES = ['inv', 'dp', 'sub', 'prom', 'sign', 'snap', 'mut', 'vq'] as const;
export type IdPrefix = (typeof ID_PREFIXES)[number];

/** The one version of the scheme. */
export const ID_VERSION = '1';

/** Why a text is no id, in words that are shown to callers. */
export type IdFault =
  | 'bad format'
  | 'bad length'
  | "id doesn't match the expected type"
  | 'unrecognized codec version'
  | 'base62 decode error'
  | `unrecognized resource type: ${string}`;

export type ParsedId<Id> =
  { readonly kind: 'ok'; readonly id: Id } | { readonly kind: 'bad'; readonly reason: IdFault };

/** Makes the `bad` result. */
export function badId(reason: IdFault): { readonly kind: 'bad'; readonly reason: IdFault } {
  return { kind: 'bad', reason };
}

/**
 * Checks prefix, version and length of `text`, in the order in which callers are told of faults.
 *
 * `bodyLength` counts characters after the version. Returns the fault, or undefined if the shape is right.
 */
export function idShapeFault(
  text: string,
  prefix: IdPrefix,
  bodyLength: number,
): IdFault | undefined {
  if (text.length === 0) return 'bad length';
  const separator = text.indexOf('_');
  if (separator < 0) return 'bad format';
  const found = text.slice(0, separator);
  if (found !== prefix) {
    const known = (ID_PREFIXES as readonly string[]).includes(found);
    return known ? "id doesn't match the expected type" : `unrecognized resource type: ${found}`;
  }
  const version = text[separator + 1];
  if (version === undefined) return 'bad length';
  if (version !== ID_VERSION) return 'unrecognized codec version';
  return text.length === separator + 2 + bodyLength ? undefined : 'bad length';
}
