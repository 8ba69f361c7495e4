/** Functions that clients use and DuckDB lacks, or means otherwise, as macros beside the tables. */

/** Parts of a path into a JSON text that one call may have. */
const PATH_PARTS_MAX = 5;

/** Integer types, as `typeof` names them. */
const INTEGER = `LIKE '%INT%'`;

/** Statements that make the functions; run once, in the schema of the tables. */
export function functionStatements(): string[] {
  return [
    dividing('//', 'divide'),
    dividing('%', 'mod'),
    ...jsonFunctions(),
    'CREATE MACRO date_bin(width, t) AS time_bucket(width, t)',
    'CREATE MACRO regexp_like(t, pattern) AS regexp_matches(t, pattern)',
    'CREATE MACRO to_unixtime(t) AS epoch(t)::BIGINT',
  ];
}

/** An integer operator that fails where DuckDB's own gives null: on a divisor of 0. */
function dividing(operator: string, name: string): string {
  const isRefused = `b = 0 AND a IS NOT NULL AND typeof(a) ${INTEGER} AND typeof(b) ${INTEGER}`;
  return `CREATE MACRO "${operator}"(a, b) AS CASE WHEN ${isRefused} THEN error('division by zero') ELSE ${name}(a, b) END`;
}

/** Each takes the text and the keys or indexes that lead to a value in it. Null where there is none, or of another type. */
function jsonFunctions(): string[] {
  return [
    onPath('json_get_str', ofType(['VARCHAR'], 'VARCHAR')),
    onPath('json_get_int', ofType(['BIGINT', 'UBIGINT'], 'BIGINT')),
    onPath('json_get_float', ofType(['DOUBLE', 'BIGINT', 'UBIGINT'], 'DOUBLE')),
    onPath('json_get_bool', ofType(['BOOLEAN'], 'BOOLEAN')),
    onPath('json_get_json', (j, path) => `json_extract(${j}, ${path})::VARCHAR`),
    onPath('json_as_text', (j, path) => `json_extract_string(${j}, ${path})`),
    onPath('json_contains', (j, path) => `coalesce(json_exists(${j}, ${path}), false)`),
    onPath(
      'json_length',
      (j, path) =>
        `CASE json_type(${j}, ${path}) WHEN 'ARRAY' THEN json_array_length(${j}, ${path}) ` +
        `WHEN 'OBJECT' THEN len(json_keys(${j}, ${path})) END`,
    ),
    onPath('json_object_keys', (j, path) => `json_keys(${j}, ${path})`),
  ];
}

/** SQL for what a JSON text holds at a path. */
type Body = (json: string, path: string) => string;

function ofType(types: readonly string[], result: string): Body {
  const list = types.map((type) => `'${type}'`).join(', ');
  return (json, path) =>
    `CASE WHEN json_type(${json}, ${path}) IN (${list}) ` +
    `THEN TRY_CAST(json_extract_string(${json}, ${path}) AS ${result}) END`;
}

/** A macro for each length of path: none, one part, and so on. */
function onPath(name: string, body: Body): string {
  const overloads = Array.from({ length: PATH_PARTS_MAX + 1 }, (_, count) => {
    const parts = Array.from({ length: count }, (_each, index) => `p${String(index)}`);
    const pointer = parts.map((part) => `'/' || ${escaped(part)}`).join(' || ');
    return `(${['j', ...parts].join(', ')}) AS ${body('j', `(${pointer === '' ? `''` : pointer})`)}`;
  });
  return `CREATE MACRO ${name} ${overloads.join(', ')}`;
}

/** A part of a JSON pointer. */
function escaped(part: string): string {
  return `replace(replace(${part}::VARCHAR, '~', '~0'), '/', '~1')`;
}
