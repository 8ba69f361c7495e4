import type { Recorded } from '../history/event.js';

/** What must not happen. */
export type Harm =
  /** Acknowledged, and its effect is missing. */
  | 'lost'
  /** One effect twice. */
  | 'doubled'
  /** Only a part of what an operation does. */
  | 'torn'
  /** An effect of nothing that was asked. */
  | 'phantom'
  /** A result that is not the one that was kept. */
  | 'changed'
  /** A step ran again after its result was known. */
  | 'repeated'
  /** An object did two things at once, or in another order than they were accepted. */
  | 'order'
  /** A read did not see what was acknowledged before it. */
  | 'stale'
  | 'early'
  /** Not finished, although there was time. */
  | 'stuck'
  /** An answer that nobody may get. */
  | 'refused';

export interface Violation {
  readonly harm: Harm;
  readonly text: string;
}

/** Sees a history entry by entry, and says at its end what was wrong in it. */
export interface Rule {
  see(entry: Recorded): void;
  violations(): Iterable<Violation>;
}
