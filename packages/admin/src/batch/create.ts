/** Puts the parts of batch operations together. */

import { ulidText } from '@engine/domain';
import type { AdminDependencies } from '../context.js';
import type { InvocationOperations } from '../invocation-operations.js';
import { BatchOperations } from './batch-operations.js';
import { BatchRunner } from './batch-runner.js';
import { BatchStore } from './batch-store.js';
import { PagePerformer } from './page-performer.js';
import { PagePlanner } from './page-planner.js';

export type BatchDependencies = Pick<
  AdminDependencies,
  'metadata' | 'invocations' | 'journals' | 'hashes' | 'clock' | 'scheduler'
> & {
  readonly operations: InvocationOperations;
  readonly newUlid: () => Uint8Array;
};

export function createBatchOperations(dependencies: BatchDependencies): BatchOperations {
  const { metadata, invocations, journals, hashes, clock } = dependencies;
  const { scheduler, operations, newUlid } = dependencies;
  const owner = ulidText(newUlid());
  const store = new BatchStore(metadata, clock);
  const planner = new PagePlanner(invocations, hashes);
  const performer = new PagePerformer({ operations, journals, scheduler }, planner);
  const runner = new BatchRunner({ store, planner, performer, clock, owner });
  return new BatchOperations({ store, runner, clock, scheduler, newUlid, owner });
}
