/**
 * A process that is frozen in the middle of a turn finishes that turn when it wakes, and only then looks at its clock: what it had decided
 * to call is called (docs/decisions/0006-a-death-is-written-onto-the-lease.md). Such a call may repeat what is over by then; nothing
 * comes of it. Here it is counted and not held against anybody.
 */

import type { Recorded } from '../history/event.js';

/** From a thaw until what left with it has arrived, on a busy machine. */
const TURN_MS = 1_000;

export class Thaws {
  #until = 0;
  /** Calls that were over already, repeated by a turn that was frozen. */
  overlaps = 0;

  see(entry: Recorded): void {
    if (entry.kind !== 'fault' || entry.phase !== 'healed') return;
    if (entry.name.startsWith('worker-freeze')) this.#until = entry.time + TURN_MS;
  }

  /** True, and counted: what happened then may come from such a turn. */
  explains({ time }: Recorded): boolean {
    if (time > this.#until) return false;
    this.overlaps += 1;
    return true;
  }
}
