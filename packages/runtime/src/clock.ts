/** The only door to time. Nothing outside this package asks the machine what time it is. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. May jump, also backwards, when the machine's clock is set. */
  now(): number;
  /** Milliseconds, with fractions, since some fixed moment. Never goes back; says nothing about the date. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};
