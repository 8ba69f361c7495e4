/** Everything that the routes lean on, made once by the service. */

import type { Hashes, SchemaLookup } from '@engine/domain';
import type { Clock, Random, Scheduler } from '@engine/runtime';
import type { PartitionChannel } from '@engine/wire';
import type { IngressConfig } from './config-shape.js';
import type { InvocationIds } from './invocation-ids.js';
import type { RequestIds } from './request-ids.js';
import type { Waiting } from './waiting.js';

/** What the ingress is given by whoever starts it. */
export interface IngressDependencies {
  readonly channel: PartitionChannel;
  /** The current schema; asked once per request. */
  readonly schema: () => SchemaLookup;
  readonly hashes: Hashes;
  /** Whether the process can take work; `/engine/health` says so. */
  readonly isReady: () => boolean;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly random: Random;
}

export interface IngressContext {
  readonly config: IngressConfig;
  readonly clock: Clock;
  readonly hashes: Hashes;
  readonly schema: () => SchemaLookup;
  readonly isReady: () => boolean;
  readonly invocationIds: InvocationIds;
  readonly requestIds: RequestIds;
  readonly waiting: Waiting;
}
