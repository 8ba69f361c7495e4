/** A kind of fault: a story of what is done, to whom, and what callers may notice of it. */

import type { Chance } from '../chance.js';
import type { Member, System } from '../systems/system.js';

export interface Scene {
  readonly system: System;
  readonly chance: Chance;
  /** Pauses of a story, ms. */
  pause(ms: number): Promise<void>;
}

export interface Wound {
  /** For the log: who was hit and how. */
  readonly what: string;
  /** Partitions whose calls may wait; all of them unless named. */
  readonly partitions?: readonly number[];
  /** Its callers see errors of its own; undefined: nobody's ingress was hit. */
  readonly ingressUrl?: string | undefined;
  /** How long it lasts before it is healed, ms; `until-served`: healed once everybody is served again. */
  readonly lastsMs: number | 'until-served';
  /** When the blow fell, on the monotonic clock; the beginning of the story unless told. */
  readonly struckAt?: number;
  heal(): Promise<void>;
}

export interface Fault {
  readonly name: string;
  /** How often it is drawn, compared with the others. */
  readonly weight: number;
  /** Of the figure, ms; undefined: only measured. */
  readonly msMax: number | undefined;
  /**
   * What is measured: from the blow to the first answer of the last partition hit, or, where nobody should notice anything, the
   * longest that a call took during the whole story.
   */
  readonly figure: 'first-success' | 'slowest';
  /** Callers of ingresses that were not hit may get errors: there is nothing left that could hide it. */
  readonly mayFail: boolean;
  /** False: this system has nothing to do it to. */
  isPossible(system: System): boolean;
  strike(scene: Scene): Promise<Wound>;
}

export function membersOf(system: System, role: Member['role']): readonly Member[] {
  return system.members.filter((member) => member.role === role);
}

/** Partitions that a member leads now. */
export async function ledBy(system: System, name: string): Promise<readonly number[]> {
  const leaders = await system.leaders();
  return [...leaders].filter(([, leader]) => leader === name).map(([partition]) => partition);
}

export function nothing(): Promise<void> {
  return Promise.resolve();
}

/** The same, where processes can be cut off from each other. */
export function withCuts(fault: Fault): Fault {
  const isPossible = (system: System): boolean =>
    fault.isPossible(system) && system.members.every(({ cut }) => cut !== undefined);
  return { ...fault, isPossible };
}
