/** Questions that tests put to an engine process over its public interfaces. */

import { readFileSync } from 'node:fs';

import { waitUntil, type EngineProcess } from '@engine-test/support';

/** A row of sys_invocation; absent fields are not in the answer. */
export interface InvocationRow {
  readonly id: string;
  readonly status: string;
  readonly retry_count?: number;
  readonly last_failure?: string;
  readonly last_failure_error_code?: string;
}

export async function query<Row>(engine: EngineProcess, sql: string): Promise<Row[]> {
  const response = await fetch(`${engine.adminUrl}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query: sql }),
  });
  if (!response.ok) throw new Error(`${sql}: ${await response.text()}`);
  return ((await response.json()) as { rows: Row[] }).rows;
}

export async function invocation(
  engine: EngineProcess,
  id: string,
): Promise<InvocationRow | undefined> {
  const columns = 'id, status, retry_count, last_failure, last_failure_error_code';
  const sql = `SELECT ${columns} FROM sys_invocation WHERE id = '${id}'`;
  const [row] = await query<InvocationRow>(engine, sql);
  return row;
}

/** Registers a deployment with a body of one's own. `code`: the documented code of a refusal. */
export async function register(
  engine: EngineProcess,
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
export async function send(engine: EngineProcess, path: string, input?: unknown): Promise<string> {
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
export async function call(engine: EngineProcess, path: string, input: unknown): Promise<unknown> {
  const response = await fetch(`${engine.ingressUrl}/engine/call/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(input),
  });
  if (!response.ok) throw new Error(`${path} fails: ${await response.text()}`);
  return response.json();
}

/** Waits for the result of an invocation that ends well. */
export function result(engine: EngineProcess, id: string, limitMs?: number): Promise<unknown> {
  return waitUntil(
    'the result is there',
    async () => {
      const response = await fetch(`${engine.ingressUrl}/engine/output/${id}`);
      return response.status === 200 ? response.json() : undefined;
    },
    limitMs,
  );
}

/** Seconds of processor time that a process has used. Linux only. */
export function cpuSeconds(pid: number): number {
  // Fields 14 and 15, counted behind the name in brackets, in ticks of 10 ms.
  const fields =
    readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
      .split(') ')[1]
      ?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Largest memory that a process had so far, in MiB. Linux only. */
export function peakMemoryMib(pid: number): number {
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
}
