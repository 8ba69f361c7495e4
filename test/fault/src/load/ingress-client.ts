/** Requests of callers: sent again, to the next ingress if need be, until they are acknowledged or their outcome can't be known. */

import type { History } from '../history/history.js';

/** Longer than the time for which an ingress lets a caller wait for a leader. */
const REQUEST_MS_MAX = 90_000;
const PAUSE_MS = 50;
const PAUSE_MS_MAX = 1_000;
/** Statuses that say "not now": too busy, no leader, stopping. */
const LATER = new Set([429, 502, 503, 504]);

export interface Question {
  readonly op: string;
  readonly path: string;
  readonly method?: 'GET' | 'POST';
  readonly body?: unknown;
  /** With a key, or when nothing changes by asking twice, it may be sent again. */
  readonly idempotencyKey?: string;
  readonly isRepeatable: boolean;
}

export type Answer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly text: string;
      readonly since: number;
    }
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'given-up' };

export class IngressClient {
  readonly #urls: readonly string[];
  readonly #history: History;
  readonly #patienceMs: number;
  #at: number;

  /** `first`: number of the ingress that is asked first. It stays with one that answers. */
  constructor(
    options: {
      readonly urls: readonly string[];
      readonly first: number;
      readonly patienceMs: number;
    },
    history: History,
  ) {
    this.#urls = options.urls;
    this.#at = options.first;
    this.#patienceMs = options.patienceMs;
    this.#history = history;
  }

  async ask(question: Question): Promise<Answer> {
    const end = performance.now() + this.#patienceMs;
    let pauseMs = PAUSE_MS;
    while (performance.now() < end) {
      const url = this.#urls[this.#at % this.#urls.length] ?? '';
      const since = Date.now();
      const began = performance.now();
      const reply = await request(`${url}/engine/${question.path}`, question);
      if (reply.kind === 'reply' && !LATER.has(reply.status))
        return { kind: 'answered', status: reply.status, text: reply.text, since };
      const reason = reply.kind === 'reply' ? `${reply.status} ${reply.text}` : reply.reason;
      const tookMs = Math.round(performance.now() - began);
      this.#history.record({ kind: 'failed', op: question.op, url, reason, tookMs });
      const isUnsent = reply.kind === 'broken' && reply.reason === 'ECONNREFUSED';
      if (!question.isRepeatable && !isUnsent) return { kind: 'unknown', reason };
      this.#at += 1;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
    }
    return { kind: 'given-up' };
  }
}

export type Reply =
  | { readonly kind: 'reply'; readonly status: number; readonly text: string }
  | { readonly kind: 'broken'; readonly reason: string };

/** One request. `broken`: there is no answer, for the reason given. */
export async function request(
  url: string,
  { method = 'POST', body, idempotencyKey }: Omit<Question, 'op' | 'path' | 'isRepeatable'>,
): Promise<Reply> {
  const headers: Record<string, string> = {};
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
  try {
    const response = await fetch(url, {
      method,
      headers,
      signal: AbortSignal.timeout(REQUEST_MS_MAX),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { kind: 'reply', status: response.status, text: await response.text() };
  } catch (error) {
    return { kind: 'broken', reason: reasonOf(error) };
  }
}

/** The platform hides the reason in a cause. */
function reasonOf(error: unknown): string {
  const { name, cause } = error as { name?: string; cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? name ?? String(error);
}
