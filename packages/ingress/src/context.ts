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
  /**
   * Reads what another process may have registered a moment ago. Undefined where the schema is the newest at all times. When it
   * rejects, the schema stays as it is.
   */
  readonly catchUp?: (() => Promise<unknown>) | undefined;
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
  readonly catchUp: (() => Promise<unknown>) | undefined;
  readonly isReady: () => boolean;
  readonly invocationIds: InvocationIds;
  readonly requestIds: RequestIds;
  readonly waiting: Waiting;
}
