/** Faults drawn like cards: each kind as often as its weight says before any of them comes again. */

import type { Chance } from '../chance.js';
import type { System } from '../systems/system.js';
import type { Fault } from './fault.js';

export class Deck {
  readonly #faults: readonly Fault[];
  readonly #chance: Chance;
  #cards: Fault[] = [];

  constructor(faults: readonly Fault[], chance: Chance) {
    this.#faults = faults;
    this.#chance = chance;
  }

  /** What can't be done to the system as it is now is put back. */
  draw(system: System): Fault {
    let place = this.#cards.findLastIndex((fault) => fault.isPossible(system));
    if (place < 0) {
      this.#shuffle();
      place = this.#cards.findLastIndex((fault) => fault.isPossible(system));
    }
    const [card] = this.#cards.splice(place, 1);
    if (place < 0 || card === undefined) throw new Error('no fault is possible here');
    return card;
  }

  #shuffle(): void {
    const cards = this.#faults.flatMap((fault) => Array<Fault>(fault.weight).fill(fault));
    this.#cards = [];
    while (cards.length > 0) {
      const [card] = cards.splice(this.#chance.between(0, cards.length - 1), 1);
      if (card !== undefined) this.#cards.push(card);
    }
  }
}
