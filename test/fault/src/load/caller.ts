/** One of many callers: does one operation of its plan after the other, and records what it was told. */

import { setTimeout as pause } from 'node:timers/promises';

import type { Chance } from '../chance.js';
import type { History } from '../history/history.js';
import { tokenOf, type PlannedOperation } from '../plan/operation.js';
import type { Planner } from '../plan/planner.js';
import type { Answer, IngressClient } from './ingress-client.js';
import { requestOf, type Request } from './request-of.js';

export interface CallerParts {
  readonly planner: Planner;
  readonly client: IngressClient;
  readonly history: History;
  readonly chance: Chance;
  /** Mean pause between two operations, ms. */
  readonly thinkMs: number;
}

export class Caller {
  readonly #parts: CallerParts;
  #isStopped = false;

  constructor(parts: CallerParts) {
    this.#parts = parts;
  }

  /** Resolves when the operation that is open at the stop is over. */
  async run(): Promise<void> {
    const { planner, chance, thinkMs } = this.#parts;
    while (!this.#isStopped) {
      await this.#perform(planner.next());
      await pause(chance.between(0, 2 * thinkMs));
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #perform(op: PlannedOperation): Promise<void> {
    this.#parts.history.record({ kind: 'asked', op });
    if (op.what.kind === 'order') await this.#order(op);
    else await this.#plain(op);
  }

  async #plain(op: PlannedOperation): Promise<void> {
    const request = requestOf(op);
    const isSend = op.what.kind === 'send-add';
    const answer = await this.#ask(op, request);
    if (!this.#note(op, answer, isSend ? 'taken' : 'result')) return;
    if (op.what.kind === 'send-add' && op.what.attaches) await this.#attach(op, answer);
    for (let again = 0; again < op.repeats; again += 1) {
      if (isSend) this.#note(op, await this.#ask(op, request), 'taken');
      else this.#note(op, await this.#ask(op, request), 'repeat');
    }
  }

  /** Start it, keep the promise, wait for the end: each can be asked for twice. */
  async #order(op: PlannedOperation): Promise<void> {
    const start = await this.#ask(op, requestOf(op));
    if (!this.#note(op, start, 'taken')) return;
    const approve: Request = {
      path: `call/Order/${op.id}/approve`,
      body: tokenOf(op.id),
      idempotencyKey: `approve-${op.id}`,
      isRepeatable: true,
    };
    const approved = await this.#ask(op, approve);
    if (approved.kind !== 'answered' || approved.status !== 200) {
      this.#note(op, approved, 'repeat');
      return;
    }
    const attach = `workflow/Order/${op.id}/attach`;
    for (let asked = 0; asked <= op.repeats; asked += 1) {
      const end = await this.#ask(op, { method: 'GET', path: attach, isRepeatable: true });
      this.#note(op, end, asked === 0 ? 'result' : 'repeat');
    }
  }

  async #attach(op: PlannedOperation, taken: Answer): Promise<void> {
    const id = (valueOf(taken) as { invocationId?: string }).invocationId ?? '';
    // What was sent without a key is forgotten when it has ended.
    if (!op.isKeyed) return;
    const path = `attach/${id}`;
    this.#note(op, await this.#ask(op, { method: 'GET', path, isRepeatable: true }), 'result');
  }

  #ask(op: PlannedOperation, request: Request): Promise<Answer> {
    return this.#parts.client.ask({ op: op.id, ...request });
  }

  /** True: it went well. */
  #note(op: PlannedOperation, answer: Answer, stage: 'taken' | 'result' | 'repeat'): boolean {
    const { history } = this.#parts;
    if (answer.kind === 'unknown') {
      history.record({ kind: 'unknown', op: op.id, reason: answer.reason });
    } else if (answer.kind === 'given-up') {
      history.record({ kind: 'given-up', op: op.id });
    } else if (answer.status !== (stage === 'taken' ? 202 : 200)) {
      history.record({ kind: 'refused', op: op.id, status: answer.status, body: answer.text });
    } else {
      const { since } = answer;
      history.record({ kind: 'answered', op: op.id, stage, value: valueOf(answer), since });
      return true;
    }
    return false;
  }
}

function valueOf(answer: Answer): unknown {
  if (answer.kind !== 'answered' || answer.text === '') return undefined;
  try {
    return JSON.parse(answer.text);
  } catch {
    return answer.text;
  }
}
