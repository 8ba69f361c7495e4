import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EngineError } from '@engine/domain';
import { systemScheduler } from '@engine/runtime';
import { SqlEngine } from './sql-engine.js';
import {
  defineColumns,
  type Row,
  type ScanRequest,
  type TableDefinition,
  type TableProvider,
} from './table.js';

const THINGS: TableDefinition = {
  name: 'things',
  keyColumns: ['id', 'note'],
  columns: defineColumns(
    ['id', 'text'],
    ['partition_key', 'u64'],
    ['index', 'u32'],
    ['created_at', 'timestamp'],
    ['retention', 'duration'],
    ['waits_for', 'u32-list'],
    ['names', 'text-list'],
    ['raw', 'bytes'],
    ['is_public', 'boolean'],
    ['note', 'text'],
  ),
};
const ENDLESS: TableDefinition = {
  name: 'endless',
  keyColumns: [],
  columns: defineColumns(['n', 'u32']),
};
/** Its rows cannot be had after the first one. */
const AWAY: TableDefinition = {
  name: 'away',
  keyColumns: [],
  columns: defineColumns(['n', 'u32']),
};
const AT = Date.UTC(2026, 10, 20, 20, 18, 58);
const FIRST: Row = [
  ...[
    'a',
    18_446_744_073_709_551_615n,
    1,
    AT,
    86_400_000,
    [1, 17],
    ['x', 'ÿ"'],
    Uint8Array.of(0, 255),
  ],
  ...[true, undefined],
];
const SECOND: Row = ['b', 5, 2, AT + 7, 3, undefined, [], undefined, false, 'two\nlines'];

class Things implements TableProvider {
  readonly tables = [THINGS, ENDLESS, AWAY];
  readonly requests: ScanRequest[] = [];

  async *scan(request: ScanRequest, signal: AbortSignal): AsyncGenerator<readonly Row[]> {
    this.requests.push(request);
    if (request.table === 'away') {
      yield [[1]];
      throw new EngineError('unavailable', 'partition 3 has no leader');
    }
    if (request.table === 'endless') {
      for (let n = 0; !signal.aborted; n += 1) {
        await new Promise(setImmediate);
        yield [[n]];
      }
    }
    if (request.keys['id']?.includes('not an id')) throw new EngineError('internal', 'bad id');
    await Promise.resolve();
    yield [FIRST, SECOND].filter(([id]) => request.keys['id']?.includes(String(id)) ?? true);
  }
}

const things = new Things();
const engine = new SqlEngine({}, { tables: things, scheduler: systemScheduler });
const never = new AbortController().signal;

async function ask(statement: string, on = engine): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of await on.queryJson(statement, never)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

async function rows(statement: string): Promise<unknown> {
  return (JSON.parse(await ask(statement)) as { rows: unknown }).rows;
}

async function refusal(statement: string): Promise<string> {
  try {
    return `no refusal but ${await ask(statement)}`;
  } catch (error) {
    return `${(error as EngineError).code}: ${(error as EngineError).message}`;
  }
}

beforeAll(async () => {
  await ask('SELECT 1');
}, 30_000);

afterAll(async () => {
  await engine[Symbol.asyncDispose]();
});

describe('SqlEngine answers', () => {
  it('encodes every type, leaves nulls out and keeps all digits', async () => {
    expect(await ask('SELECT * FROM things ORDER BY id')).toBe(
      '{"rows":[{"id":"a","partition_key":18446744073709551615,"index":1,"created_at":"2026-11-20T20:18:58Z",' +
        '"retention":"PT86400S","waits_for":[1,17],"names":["x","ÿ\\""],"raw":"00ff","is_public":true},' +
        '{"id":"b","partition_key":5,"index":2,"created_at":"2026-11-20T20:18:58.007Z","retention":"PT0.003S",' +
        '"names":[],"is_public":false,"note":"two\\nlines"}]}',
    );
  });

  it('shows times that are too far away as the last one that has a text', async () => {
    const table = {
      name: 'far',
      keyColumns: [],
      columns: defineColumns(['at', 'timestamp'], ['wait', 'duration']),
    };
    const far: Row[] = [Number.MAX_SAFE_INTEGER, Infinity].map((ms) => [ms, ms]);
    const tables: TableProvider = {
      tables: [table],
      async *scan() {
        await Promise.resolve();
        yield far;
      },
    };
    await using on = new SqlEngine({}, { tables, scheduler: systemScheduler });
    const last = '{"at":"9999-12-31T23:59:59Z","wait":"PT253402300799S"}';
    expect(await ask('SELECT * FROM far', on)).toBe(`{"rows":[${last},${last}]}`);
  });

  it('answers without rows', async () => {
    expect(await ask('SELECT id FROM things WHERE false')).toBe('{"rows":[]}');
    expect(await ask('SELECT 1 AS one;')).toBe('{"rows":[{"one":1}]}');
  });

  it.each([
    [
      "SELECT 1 AS one, true AS yes, 'x' AS text, NULL AS nothing, 1.5 AS half",
      { one: 1, yes: true, text: 'x', half: 1.5 },
    ],
    ["SELECT TARGET FROM (SELECT id AS target FROM THINGS) WHERE TARGET == 'a'", { target: 'a' }],
    ['SELECT count(*) FROM things', { 'count(*)': 2 }],
    ['SELECT max(created_at) - min(created_at) AS d FROM things', { d: 'PT0.007S' }],
    [
      "SELECT count(*) AS n FROM things WHERE created_at > now() - INTERVAL '1 hour' AND created_at > '2020-01-01T00:00:00Z'",
      { n: expect.any(Number) },
    ],
    ['WITH x AS (SELECT id FROM engine.public.things) SELECT count(*) AS n FROM x', { n: 2 }],
    [
      "SELECT 7 / 2 AS q, 1e300 AS large, DATE '2020-01-02' AS d",
      { q: 3, large: 1e300, d: '2020-01-02' },
    ],
  ])('%s', async (statement, row) => {
    expect(await rows(statement)).toEqual([row]);
  });

  it.each([
    [
      "SELECT 'ä' AS a, first_value(id ORDER BY index DESC) AS f, FIRST_VALUE (id ORDER BY id) AS g FROM things",
      { a: 'ä', f: 'b', g: 'a' },
    ],
    [
      'SELECT id, first_value(id) OVER (ORDER BY index) AS f FROM things ORDER BY id LIMIT 1',
      { id: 'a', f: 'a' },
    ],
    [
      `SELECT COUNT(1) AS n FROM (SELECT * FROM things inv LIMIT 5) WHERE inv.id IN ('a') AND "inv" . index IN (SELECT inv.index FROM things inv)`,
      { n: 1 },
    ],
    [
      'SELECT COUNT(1) AS n FROM (SELECT * FROM things inv) WHERE inv.id IN (SELECT t.id FROM things t WHERE t.index = inv.index)',
      { n: 2 },
    ],
    ['SELECT things.id FROM (SELECT * FROM things) ORDER BY things.id LIMIT 1', { id: 'a' }],
    [
      `SELECT json_get_int('{"a":{"b/c":[5]}}', 'a', 'b/c', 0) AS i, json_get_str('{"a":5}', 'a') IS NULL AS n, json_length('[1,2]') AS l`,
      { i: 5, n: true, l: 2 },
    ],
    [
      `SELECT note ->> 'x' IS NULL AS n, '{"a":{"b":1}}' ->> 'a' = '{"b":1}' AS t FROM (SELECT '{}' AS note)`,
      { n: true, t: true },
    ],
    ['SELECT 7 % 4 AS m, NULL / 0 AS n, 1.5 / 3 AS f, 6::UBIGINT / 4 AS u', { m: 3, f: 0.5, u: 1 }],
    ["SELECT count(*) AS n FROM information_schema.columns WHERE table_name = 'endless'", { n: 1 }],
  ])('as clients write it: %s', async (statement, row) => {
    expect(await rows(statement)).toEqual([row]);
  });

  it('shows the tables and nothing else', async () => {
    const table = { table_catalog: 'engine', table_schema: 'public', table_type: 'BASE TABLE' };
    expect(await rows('SHOW TABLES')).toEqual([
      { ...table, table_name: 'away' },
      { ...table, table_name: 'endless' },
      { ...table, table_name: 'things' },
    ]);
  });

  it('sends a long answer in pieces', async () => {
    const pieces: number[] = [];
    const statement = "SELECT i, repeat('x', 100) AS t FROM generate_series(1, 20000) s(i)";
    let text = '';
    for await (const piece of await engine.queryJson(statement, never)) {
      pieces.push(piece.length);
      text += Buffer.from(piece).toString();
    }
    expect(pieces.length).toBeGreaterThan(3);
    expect((JSON.parse(text) as { rows: unknown[] }).rows).toHaveLength(20_000);
  });
});

describe('SqlEngine hands filters down', () => {
  const scansOf = async (statement: string): Promise<readonly ScanRequest[]> => {
    things.requests.length = 0;
    await ask(statement);
    return [...things.requests];
  };

  const keysOf = async (statement: string): Promise<unknown> =>
    (await scansOf(statement)).map(({ table, keys }) => ({ table, keys }));

  it.each([
    ["SELECT * FROM things WHERE id = 'a'", { id: ['a'] }],
    ["SELECT * FROM things t WHERE 'b' = t.id AND raw IS NOT NULL", { id: ['b'] }],
    ["SELECT * FROM things WHERE id IN ('a', 'b') AND id = 'a'", { id: ['a', 'b'] }],
    ["SELECT * FROM things WHERE id = 'a' AND note = 'n'", { id: ['a'], note: ['n'] }],
    ["SELECT * FROM things WHERE id = 'a' OR id = 'b'", {}],
    ["SELECT * FROM things WHERE index = 1 AND id > 'a'", {}],
    ["SELECT a.id FROM things a JOIN things b USING (index) WHERE a.id = 'a'", {}],
    [
      "SELECT a.id FROM things a JOIN things b ON a.index = b.index WHERE a.id = 'a' AND b.id = 'b' AND b.note = 'n'",
      { id: ['a', 'b'] },
    ],
    [
      "SELECT a.id FROM things a LEFT JOIN (SELECT 1 AS one) x ON true WHERE a.id IN ('a')",
      { id: ['a'] },
    ],
    ["SELECT id FROM (SELECT * FROM things WHERE id = 'a')", { id: ['a'] }],
    ["SELECT id FROM things WHERE id IN (SELECT id FROM things WHERE id = 'a')", {}],
  ])('%s', async (statement, keys) => {
    expect(await keysOf(statement)).toEqual([{ table: 'things', keys }]);
  });

  const ALL = THINGS.columns.map(({ name }) => name);

  it.each([
    ['SELECT * FROM things', ALL],
    ['SELECT t.* FROM things t', ALL],
    ['SELECT count(t) AS n FROM things t', ALL],
    ['SELECT x.a FROM things AS x(a)', ALL],
    ['SELECT a.note FROM things a NATURAL JOIN (SELECT 1::UINTEGER AS index) b', ALL],
    ['SELECT count(*) AS n FROM things', []],
    ["SELECT NOTE AS n FROM things WHERE raw_length(raw) > 0 AND id = 'a'", ['id', 'raw', 'note']],
    ['SELECT a.note FROM things a JOIN things b USING (index)', ['index', 'note']],
  ])('%s asks for the columns that it reads', async (statement, columns) => {
    const asked = await scansOf(statement.replace('raw_length', 'octet_length'));
    expect(asked.map((scan) => [...scan.columns])).toEqual([columns]);
  });

  it('reads no table that is not named', async () => {
    expect(await scansOf('SELECT 1')).toEqual([]);
  });
});

describe('SqlEngine refuses', () => {
  it.each([
    ['SELEC 1', /^bad-request: syntax error/],
    ['', /^bad-request: the statement is empty/],
    ['CREATE TABLE t (a int)', /^bad-request: only SELECT/],
    ['DROP TABLE things', /^bad-request: only SELECT/],
    ["INSERT INTO things (id) VALUES ('x')", /^bad-request: only SELECT/],
    ['SET lock_configuration = false', /^bad-request: only SELECT/],
    ["COPY (SELECT 1) TO '/tmp/x'", /^bad-request: only SELECT/],
    ["ATTACH '/tmp/x.db'", /^bad-request: only SELECT/],
    ['SELECT 1 AS a, 2 AS a', /^bad-request: two columns are named 'a'/],
    ['SELECT 1; SELECT 2', /^internal: only one statement/],
    ['SELECT * FROM nope', /^internal: .*nope/],
    ['SELECT nope FROM things', /^internal: .*nope/],
    ["SELECT 'x'::int AS n", /^internal: /],
    ['SELECT $1', /^internal: /],
    ['SELECT 1 / 0 AS x', /^internal: .*division by zero/],
    ['SELECT index % 0 AS x FROM things', /^internal: .*division by zero/],
    ["SELECT * FROM things WHERE id = 'not an id'", /^internal: bad id/],
    ["SELECT * FROM read_text('/etc/passwd')", /^internal: table function 'read_text'/],
    ["SELECT * FROM '/etc/passwd'", /^internal: /],
    [
      "SELECT content FROM (SELECT (SELECT content FROM read_text('/etc/passwd')) AS content)",
      /^internal: table function/,
    ],
    ['SELECT * FROM duckdb_settings()', /^internal: table function/],
  ])('%s', async (statement, message) => {
    expect(await refusal(statement)).toMatch(message);
  });

  it('leaves no rows behind', async () => {
    await refusal('SELECT 1 / nope FROM things');
    things.requests.length = 0;
    expect(await rows("SELECT count(*) AS n FROM things WHERE id = 'a'")).toEqual([{ n: 1 }]);
  });

  it('runs queries one after the other and refuses when too many wait', async () => {
    const asked = Array.from({ length: 70 }, () => refusal('SELECT 1 AS one'));
    const answers = await Promise.all(asked);
    expect(answers.filter((answer) => answer.endsWith('{"rows":[{"one":1}]}'))).toHaveLength(65);
    expect(answers.filter((answer) => answer.startsWith('overloaded: '))).toHaveLength(5);
  });

  it('a query whose rows cannot all be had, rather than leave some out', async () => {
    expect(await refusal('SELECT count(*) AS n FROM away')).toBe(
      'unavailable: partition 3 has no leader',
    );
    await expect(ask('SELECT 1 AS one', engine)).resolves.toBe('{"rows":[{"one":1}]}');
  });

  it('a query that takes too long, in the database or in a scan', async () => {
    await using hasty = new SqlEngine(
      { queryTimeMsMax: 300 },
      { tables: things, scheduler: systemScheduler },
    );
    const slow =
      'SELECT count(*) AS n FROM generate_series(1, 1000000) a(i), generate_series(1, 1000000) b(i) WHERE a.i + b.i = 3';
    await expect(ask(slow, hasty)).rejects.toThrow('longer than 300 ms');
    await expect(ask('SELECT count(*) AS n FROM endless', hasty)).rejects.toThrow(
      'longer than 300 ms',
    );
    await expect(ask('SELECT 1 AS one', hasty)).resolves.toBe('{"rows":[{"one":1}]}');
  }, 20_000);

  it('a query that needs too much memory', async () => {
    const large =
      "SELECT array_agg(repeat('x', 1000) || i) AS t FROM generate_series(1, 1000000) s(i)";
    expect(await refusal(large)).toMatch(/^internal: Out of Memory/);
  }, 20_000);

  it('a query whose caller goes away', async () => {
    const controller = new AbortController();
    const asked = engine.queryJson('SELECT count(*) AS n FROM endless', controller.signal);
    setImmediate(() => {
      controller.abort();
    });
    await expect(asked).rejects.toThrow('the caller went away');
  });

  it('everything once it is disposed', async () => {
    const other = new SqlEngine({}, { tables: things, scheduler: systemScheduler });
    const running = expect(ask('SELECT count(*) AS n FROM endless', other)).rejects.toThrow(
      'the server is stopping',
    );
    await new Promise(setImmediate);
    await other[Symbol.asyncDispose]();
    await running;
    await expect(ask('SELECT 1', other)).rejects.toThrow('not started');
  });
});
