/** Valid values to start from, the same in every run. */

import fc from 'fast-check';

const SEED = 20_260_101;
const SAMPLES = 400;

/** Values of an arbitrary of the contract suites. */
export function samplesOf<T>(arbitrary: fc.Arbitrary<T>, count = SAMPLES): T[] {
  return fc.sample(arbitrary, { seed: SEED, numRuns: count });
}
