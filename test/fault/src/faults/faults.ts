import type { Fault } from './fault.js';
import { FAULTS_OF_FRONTS } from './of-fronts.js';
import { MOVES } from './of-moves.js';
import { FAULTS_OF_NATS } from './of-nats.js';
import { FAULTS_OF_ONE_ENGINE } from './of-one-engine.js';
import { FAULTS_OF_WORKERS } from './of-workers.js';

/** Every kind there is. A system is hit by those that are possible with it. */
export const FAULTS: readonly Fault[] = [
  ...FAULTS_OF_ONE_ENGINE,
  ...FAULTS_OF_WORKERS,
  ...MOVES,
  ...FAULTS_OF_FRONTS,
  ...FAULTS_OF_NATS,
];
