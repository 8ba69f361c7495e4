/** All targets, in the order from bytes on the wire to bytes on disk. */

import type { Target } from '../target.js';
import { attempt } from './attempt.js';
import { discovery } from './discovery.js';
import { frames } from './frames.js';
import { ids } from './ids.js';
import { ingress } from './ingress.js';
import { rows } from './rows.js';
import { rpc } from './rpc.js';
import { store } from './store.js';

export const targets: readonly Target[] = [
  frames,
  attempt,
  discovery,
  ids,
  ingress,
  rpc,
  rows,
  store,
];
