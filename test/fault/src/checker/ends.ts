/** Everything that was accepted comes to an end: no operation without an answer, no awakeable unheard, nothing left running. */

import type { Recorded } from '../history/event.js';
import type { Rule, Violation } from './rule.js';

export class Ends implements Rule {
  readonly #open = new Set<string>();
  readonly #waiting = new Set<string>();
  readonly #seen: Violation[] = [];
  #isQuiet = false;

  see(entry: Recorded): void {
    switch (entry.kind) {
      case 'asked':
        this.#open.add(entry.op.id);
        break;
      case 'answered':
      case 'unknown':
      case 'refused':
        this.#open.delete(entry.op);
        break;
      case 'given-up':
        this.#open.delete(entry.op);
        this.#seen.push({ harm: 'stuck', text: `${entry.op} was never answered` });
        break;
      case 'awaits':
        this.#waiting.add(entry.op);
        break;
      case 'woken':
        this.#waiting.delete(entry.op);
        break;
      case 'quiet':
        this.#isQuiet = true;
        break;
      case 'leftover':
        this.#seen.push({ harm: 'stuck', text: `${entry.invocation}: ${entry.what}` });
        break;
      default:
    }
  }

  *violations(): Iterable<Violation> {
    yield* this.#seen;
    for (const op of this.#open) yield { harm: 'stuck', text: `${op} is still open` };
    for (const op of this.#waiting) yield { harm: 'stuck', text: `${op} was not woken` };
    if (!this.#isQuiet) yield { harm: 'stuck', text: 'the run did not come to rest' };
  }
}
