/** Everybody who asks gets the one result: the first answer, a repeated call, an attach. */

import { assertNever } from '@engine/stdx';

import type { Recorded } from '../history/event.js';
import { tokenOf, type PlannedOperation } from '../plan/operation.js';
import type { Rule, Violation } from './rule.js';

export class Answers implements Rule {
  readonly #asked = new Map<string, PlannedOperation>();
  readonly #positions = new Map<string, number>();
  readonly #learned = new Map<string, number>();
  readonly #results: { readonly op: string; readonly value: unknown }[] = [];
  readonly #seen: Violation[] = [];

  see(entry: Recorded): void {
    switch (entry.kind) {
      case 'asked':
        this.#asked.set(entry.op.id, entry.op);
        break;
      case 'booked':
        this.#positions.set(entry.effect, entry.position);
        break;
      case 'learned':
        this.#learned.set(entry.step, entry.value);
        break;
      case 'answered':
        if (entry.stage !== 'taken') this.#results.push(entry);
        break;
      case 'refused': {
        const text = `${entry.op}: ${String(entry.status)} ${entry.body.slice(0, 300)}`;
        this.#seen.push({ harm: 'refused', text });
        break;
      }
      default:
    }
  }

  *violations(): Iterable<Violation> {
    yield* this.#seen;
    for (const { op, value } of this.#results) {
      const planned = this.#asked.get(op);
      if (planned === undefined || planned.what.kind === 'read') continue;
      const [found, expected] = [JSON.stringify(value), JSON.stringify(this.#resultOf(planned))];
      if (found !== expected) {
        yield { harm: 'changed', text: `${op} was answered ${found}, it is ${expected}` };
      }
    }
  }

  #resultOf({ id, what }: PlannedOperation): unknown {
    switch (what.kind) {
      case 'add':
      case 'slow-add':
      case 'send-add':
        return this.#positions.get(id);
      case 'transfer':
        return 'moved';
      case 'steps':
        return Array.from({ length: what.count }, (_, step) =>
          this.#learned.get(`${id}/${String(step)}`),
        );
      case 'nap':
        return 'slept';
      case 'wait':
      case 'order':
        return tokenOf(id);
      case 'spread':
        return what.keys.length;
      case 'read':
        return undefined;
      default:
        return assertNever(what);
    }
  }
}
