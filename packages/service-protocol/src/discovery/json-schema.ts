/**
 * Checks that a value can be a JSON Schema (2020-12) that stands on its own. Schemas are only shown to people and tools, payloads are
 * not validated against them, so this checks the form of the common keywords and that no `$ref` leaves the document.
 */
import { RuleBroken } from './refusal.js';

const TYPES = new Set(['null', 'boolean', 'object', 'array', 'number', 'string', 'integer']);

/** Keywords whose value is a schema. */
const SCHEMA = new Set([
  ...['additionalProperties', 'unevaluatedProperties', 'propertyNames', 'contains', 'items'],
  ...['unevaluatedItems', 'not', 'if', 'then', 'else', 'contentSchema'],
]);
/** Keywords whose value is a list of schemas. */
const SCHEMA_LIST = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
/** Keywords whose value maps names to schemas. */
const SCHEMA_MAP = new Set(['properties', 'patternProperties', '$defs', 'dependentSchemas']);
const COUNT = new Set([
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
  ...['minContains', 'maxContains'],
]);
const NUMBER = new Set(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']);
const TEXT = new Set(['pattern', 'format', 'title', 'description', '$id', '$schema', '$anchor']);

/** Levels of nested schemas that are looked at; deeper ones are refused. */
const DEPTH_MAX = 200;

/** Levels of arrays and objects in a whole schema, whatever they stand for; what is deeper could not be written as text again. */
const JSON_DEPTH_MAX = 1_000;

/** Throws RuleBroken with the place that is wrong. */
export function checkSchemaDocument(schema: unknown, place: string): void {
  if (isDeeperThan(schema, JSON_DEPTH_MAX)) wrong(place, 'nested too deep');
  checkJsonSchema(schema, place);
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeperThan(part, levels - 1));
}

function checkJsonSchema(schema: unknown, place: string, depth = 0): void {
  if (typeof schema === 'boolean') return;
  if (depth > DEPTH_MAX) wrong(place, 'nested too deep');
  if (!isObject(schema)) wrong(place, 'a schema is an object or a boolean');
  for (const [keyword, value] of Object.entries(schema)) {
    checkKeyword(keyword, value, { place: `${place}/${keyword}`, depth });
  }
}

interface Position {
  readonly place: string;
  readonly depth: number;
}

function checkKeyword(keyword: string, value: unknown, { place, depth }: Position): void {
  if (SCHEMA.has(keyword)) {
    checkJsonSchema(value, place, depth + 1);
  } else if (SCHEMA_LIST.has(keyword)) {
    if (!Array.isArray(value) || value.length === 0) wrong(place, 'expected a list of schemas');
    value.forEach((item, index) => {
      checkJsonSchema(item, `${place}/${index.toString()}`, depth + 1);
    });
  } else if (SCHEMA_MAP.has(keyword)) {
    if (!isObject(value)) wrong(place, 'expected an object of schemas');
    for (const [name, item] of Object.entries(value)) {
      checkJsonSchema(item, `${place}/${name}`, depth + 1);
    }
  } else if (!isPlainKeywordValid(keyword, value, place)) {
    wrong(place, 'not a legal value');
  }
}

function isPlainKeywordValid(keyword: string, value: unknown, place: string): boolean {
  if (COUNT.has(keyword)) return Number.isInteger(value) && Number(value) >= 0;
  if (NUMBER.has(keyword)) return typeof value === 'number';
  if (TEXT.has(keyword)) return typeof value === 'string';
  switch (keyword) {
    case '$ref':
    case '$dynamicRef':
      if (typeof value !== 'string') return false;
      if (!value.startsWith('#'))
        wrong(place, 'references outside of the schema are not supported');
      return true;
    case 'type':
      return [value].flat().every((type) => typeof type === 'string' && TYPES.has(type));
    case 'enum':
      return Array.isArray(value);
    case 'required':
      return Array.isArray(value) && value.every((name) => typeof name === 'string');
    case 'multipleOf':
      return typeof value === 'number' && value > 0;
    case 'uniqueItems':
      return typeof value === 'boolean';
    default:
      return true;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrong(place: string, what: string): never {
  throw new RuleBroken(`bad JSON schema at ${place}: ${what}`);
}
