/**
 * Puts a JSON schema that stood on its own into a bigger document. References count from the root of the schema, or from the nearest
 * schema around them with an `$id`; in the document they count from its root. So each is made to begin with the place its base now
 * has, and every `$id` goes, because two handlers may well show the same one. References to anchors (`#name`) stay as they are.
 */

/** Keywords whose value maps names to schemas: a name in there is no keyword. */
const SCHEMA_MAPS = new Set([
  ...['properties', 'patternProperties', 'dependentSchemas', 'dependencies'],
  ...['$defs', 'definitions'],
]);
/** Keywords whose value is data, which is kept as it is. */
const DATA = new Set(['const', 'default', 'enum', 'example', 'examples']);
const REFERENCES = new Set(['$ref', '$dynamicRef']);

interface Place {
  /** Pointer to the schema that references count from. */
  readonly base: string;
  readonly pointer: string;
}

/** `pointer`: where in the document the schema will stand, such as `#/components/schemas/Order`. */
export function embedSchema(schema: unknown, pointer: string): unknown {
  return embedNode(schema, { base: pointer, pointer });
}

function embedNode(node: unknown, place: Place): unknown {
  if (Array.isArray(node)) {
    return node.map((item, index) => embedNode(item, below(place, String(index))));
  }
  if (!isObject(node)) return node;
  const isBase = isIdentity(node['$id']);
  const inside = isBase ? { base: place.pointer, pointer: place.pointer } : place;
  const entries = Object.entries(node).filter(([keyword]) => !isBase || keyword !== '$id');
  return Object.fromEntries(
    entries.map(([keyword, value]) => [keyword, embedKeyword(keyword, value, inside)]),
  );
}

function embedKeyword(keyword: string, value: unknown, place: Place): unknown {
  if (DATA.has(keyword)) return value;
  if (REFERENCES.has(keyword) && typeof value === 'string') return rebase(value, place.base);
  const inside = below(place, keyword);
  if (!SCHEMA_MAPS.has(keyword) || !isObject(value)) return embedNode(value, inside);
  return Object.fromEntries(
    Object.entries(value).map(([name, schema]) => [name, embedNode(schema, below(inside, name))]),
  );
}

function rebase(reference: string, base: string): string {
  return reference === '#' || reference.startsWith('#/') ? base + reference.slice(1) : reference;
}

/** Drafts before 2019 wrote anchors as `$id: '#name'`. */
function isIdentity(id: unknown): boolean {
  return typeof id === 'string' && !id.startsWith('#');
}

function below({ base, pointer }: Place, token: string): Place {
  const escaped = token.replaceAll('~', '~0').replaceAll('/', '~1');
  const inUri = encodeURI(escaped.toWellFormed()).replaceAll('#', '%23');
  return { base, pointer: `${pointer}/${inUri}` };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
