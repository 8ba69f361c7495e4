/** Questions that tests put to an engine over its public interfaces. */

import { waitUntil } from '@engine-test/support';

/** One process or a cluster. */
export interface Engine {
  readonly ingressUrl: string;
  readonly adminUrl: string;
}

/** A row of sys_invocation; absent fields are not in the answer. */
export interface InvocationRow {
  readonly id: string;
  readonly status: string;
  readonly retry_count?: number;
  readonly last_failure?: string;
  readonly last_failure_error_code?: string;
}

export async function query<Row>(engine: Engine, sql: string): Promise<Row[]> {
  const response = await fetch(`${engine.adminUrl}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query: sql }),
  });
  if (!response.ok) throw new Error(`${sql}: ${await response.text()}`);
  return ((await response.json()) as { rows: Row[] }).rows;
}

export async function invocation(engine: Engine, id: string): Promise<InvocationRow | undefined> {
  const columns = 'id, status, retry_count, last_failure, last_failure_error_code';
  const sql = `SELECT ${columns} FROM sys_invocation WHERE id = '${id}'`;
  const [row] = await query<InvocationRow>(engine, sql);
  return row;
}

/** Registers a deployment with a body of one's own. `code`: the documented code of a refusal. */
export async function register(
  engine: Engine,
  body: object,
): Promise<{
  readonly status: number;
  readonly code: string | undefined;
  readonly message: string | undefined;
}> {
  const response = await fetch(`${engine.adminUrl}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { engine_code: code, message } = (await response.json()) as {
    readonly engine_code?: string | null;
    readonly message?: string;
  };
  return { status: response.status, code: code ?? undefined, message };
}

/** Sends and gives the invocation id. `path`: `Service/handler` or `Service/key/handler`. */
export async function send(engine: Engine, path: string, input?: unknown): Promise<string> {
  const response = await fetch(`${engine.ingressUrl}/engine/send/${path}`, {
    method: 'POST',
    ...(input === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(input) }),
  });
  if (response.status !== 202) throw new Error(`${path} is refused: ${await response.text()}`);
  return ((await response.json()) as { invocationId: string }).invocationId;
}

/** Calls and gives the answer. */
export async function call(engine: Engine, path: string, input: unknown): Promise<unknown> {
  const response = await fetch(`${engine.ingressUrl}/engine/call/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(input),
  });
  if (!response.ok) throw new Error(`${path} fails: ${await response.text()}`);
  return response.json();
}

/** Waits for the result of an invocation that ends well. */
export function result(engine: Engine, id: string, limitMs?: number): Promise<unknown> {
  return waitUntil(
    'the result is there',
    async () => {
      const response = await fetch(`${engine.ingressUrl}/engine/output/${id}`);
      return response.status === 200 ? response.json() : undefined;
    },
    limitMs,
  );
}
