/**
 * Request ids: a partition answers a repeat of the same id without running anything twice, so an id never returns, not in
 * another process and not after a restart. One random part per process and a count are enough and cost one concatenation.
 */

import { toHex } from '@engine/stdx';
import type { Random } from '@engine/runtime';

const PROCESS_PART_BYTES = 12;

export class RequestIds {
  readonly #prefix: string;
  #count = 0;

  constructor(random: Random) {
    this.#prefix = `${toHex(random.bytes(PROCESS_PART_BYTES))}-`;
  }

  next(): string {
    this.#count += 1;
    return this.#prefix + this.#count.toString(36);
  }
}
