/** Asks an admin. What it refuses, and that it cannot be reached, are errors in words for a terminal. */

import { EngineError } from '@engine/domain';
import { z } from 'zod';

const ANSWER_MS_MAX = 15_000;

const PARTITION_NUMBER = z.number();

const orders = z.object({
  drained: z.array(z.string()),
  pins: z.array(z.object({ partition: PARTITION_NUMBER, node: z.string() })),
  is_frozen: z.boolean(),
});

/** Members that are not named here are left aside: a newer admin may answer with more. */
const cluster = z.object({
  cluster_name: z.string(),
  is_cluster: z.boolean(),
  controller: z.string().nullable(),
  format_version: z.number(),
  table_version: z.number().nullable(),
  orders,
  alarms: z.array(z.object({ message: z.string() })),
  nodes: z.array(
    z.object({
      id: z.string(),
      roles: z.array(z.string()),
      addresses: z.object({ internal: z.string() }),
      zone: z.string().nullable(),
      version: z.string(),
      liveness: z.string(),
      is_leaving: z.boolean(),
      is_drained: z.boolean(),
      leads: z.number(),
      follows: z.number(),
    }),
  ),
  partitions: z.array(
    z.object({
      id: PARTITION_NUMBER,
      leader: z.string().nullable(),
      epoch: z.string(),
      standbys: z.array(z.string()),
      pinned_to: z.string().nullable(),
      replicas: z.array(
        z.object({
          node: z.string(),
          phase: z.string(),
          applied: z.string(),
          lag: z.string().nullable(),
          is_caught_up: z.boolean(),
          is_stuck: z.boolean(),
          fault: z.string().nullable(),
        }),
      ),
    }),
  ),
});

export type ClusterAnswer = z.output<typeof cluster>;
export type OrdersAnswer = z.output<typeof orders>;

export class AdminClient {
  readonly #url: string;

  /** `url`: without a slash at the end. */
  constructor(url: string) {
    this.#url = url;
  }

  /** The text as it was sent. Rejects as `order` does. */
  clusterText(): Promise<string> {
    return this.#ask('GET', '/cluster');
  }

  /** Rejects as `order` does. */
  async cluster(): Promise<ClusterAnswer> {
    return this.#read(cluster, await this.clusterText());
  }

  /** The orders that are in force then. Rejects with EngineError `unavailable` when nobody answers, `conflict` when the admin refuses. */
  async order(method: 'POST' | 'DELETE', path: string, body?: object): Promise<OrdersAnswer> {
    return this.#read(orders, await this.#ask(method, path, body));
  }

  async #ask(method: string, path: string, body?: object): Promise<string> {
    const response = await this.#send(method, path, body);
    const text = await response.text();
    if (response.ok) return text;
    throw new EngineError('conflict', refusalOf(response.status, text));
  }

  async #send(method: string, path: string, body: object | undefined): Promise<Response> {
    try {
      return await fetch(this.#url + path, {
        method,
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
        ...(body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      });
    } catch (cause) {
      const why = reasonOf(cause);
      const message = `no admin answers at ${this.#url} (${why}); --admin-url says where one is`;
      throw new EngineError('unavailable', message, { cause });
    }
  }

  #read<Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> {
    const answer = schema.safeParse(parsed(text));
    if (answer.success) return answer.data;
    const message = `what answers at ${this.#url} is no admin of a fitting version`;
    throw new EngineError('incompatible', message, { cause: answer.error });
  }
}

function refusalOf(status: number, text: string): string {
  const answer = z.object({ message: z.string() }).safeParse(parsed(text));
  return answer.success ? answer.data.message : `the admin answers ${String(status)}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'timed out';
  const { cause } = error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
  return code ?? error.message;
}
