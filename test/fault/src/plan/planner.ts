/** A caller's plan: operations without end, the same for the same seed. */

import type { Chance } from '../chance.js';
import type { Operation, PlannedOperation } from './operation.js';

const HOT_KEYS = 4;
const COLD_KEYS = 400;
const BANK_KEYS = 12;
const RECEIPT_KEYS = 16;
/** Share of keys that are hot. */
const HOT_SHARE = 0.5;
const KEYED_SHARE = 0.85;

const WEIGHTS: Readonly<Record<Operation['kind'], number>> = {
  add: 20,
  'slow-add': 3,
  'send-add': 15,
  read: 8,
  transfer: 14,
  steps: 14,
  nap: 8,
  wait: 6,
  order: 6,
  spread: 6,
};

export class Planner {
  readonly #caller: string;
  readonly #chance: Chance;
  #count = 0;

  constructor(caller: string, chance: Chance) {
    this.#caller = caller;
    this.#chance = chance;
  }

  next(): PlannedOperation {
    const chance = this.#chance;
    this.#count += 1;
    const what = this.#operation(chance.weighted(WEIGHTS));
    const isKeyed = chance.happens(KEYED_SHARE);
    const repeats = chance.happens(0.2) ? chance.between(1, 2) : 0;
    return {
      id: `${this.#caller}-${String(this.#count)}`,
      what,
      isKeyed,
      repeats: isKeyed ? repeats : 0,
    };
  }

  #operation(kind: Operation['kind']): Operation {
    const chance = this.#chance;
    const amount = chance.between(1, 9);
    switch (kind) {
      case 'add':
      case 'read':
        return { kind, key: this.#account(), amount };
      case 'slow-add':
        return { kind, key: this.#account(), amount, ms: chance.between(1, 400) };
      case 'send-add': {
        const delayMs = chance.happens(0.4) ? chance.between(1, 8_000) : 0;
        return { kind, key: this.#account(), amount, delayMs, attaches: chance.happens(0.3) };
      }
      case 'transfer': {
        const from = chance.between(0, BANK_KEYS - 1);
        const to = (from + chance.between(1, BANK_KEYS - 1)) % BANK_KEYS;
        const isOneWay = chance.happens(0.5);
        return { kind, from: `b${String(from)}`, to: `b${String(to)}`, amount, isOneWay };
      }
      case 'steps':
        return {
          kind,
          count: chance.between(1, 5),
          key: this.#receipts(),
          isFlaky: chance.happens(0.3),
        };
      case 'nap':
        return { kind, ms: chance.happens(0.2) ? chance.between(1, 15_000) : amount * 50 };
      case 'wait':
        return { kind };
      case 'order':
        return { kind, key: this.#receipts() };
      case 'spread': {
        const keys = Array.from({ length: chance.between(2, 6) }, () => this.#account());
        return { kind, keys, amount, delayMs: chance.happens(0.5) ? chance.between(1, 3_000) : 0 };
      }
    }
  }

  #account(): string {
    const isHot = this.#chance.happens(HOT_SHARE);
    const index = this.#chance.between(0, (isHot ? HOT_KEYS : COLD_KEYS) - 1);
    return `${isHot ? 'hot' : 'cold'}-${String(index)}`;
  }

  #receipts(): string {
    return `r${String(this.#chance.between(0, RECEIPT_KEYS - 1))}`;
  }
}
