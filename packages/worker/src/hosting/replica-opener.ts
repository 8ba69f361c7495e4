/** Opens log and replica of a partition, or restores the replica; goes on over failures, slower each time. */

import { EngineError, isEngineError, type PartitionId } from '@engine/domain';
import type { SharedLog } from '@engine/log';
import { delay, type Scheduler } from '@engine/runtime';

import { onOpenFailed } from '../events.js';
import type { PartitionReplica, ReplicaStores } from './replica-stores.js';

const RETRY_MS_MIN = 250;
const RETRY_MS_MAX = 10_000;

export interface ReplicaOpenerDependencies {
  readonly partition: PartitionId;
  readonly openLog: (partition: PartitionId) => Promise<SharedLog>;
  readonly stores: ReplicaStores;
  readonly scheduler: Scheduler;
}

export type Opened =
  | { readonly kind: 'opened'; readonly log: SharedLog; readonly replica: PartitionReplica }
  /** The store lost writes from its middle. */
  | { readonly kind: 'lost-writes' }
  /** A newer server wrote it. */
  | { readonly kind: 'format' };

export class ReplicaOpener {
  readonly #dependencies: ReplicaOpenerDependencies;
  #log: SharedLog | undefined;
  #retryMs = 0;

  constructor(dependencies: ReplicaOpenerDependencies) {
    this.#dependencies = dependencies;
  }

  /** What was opened is sound: the next opening need not wait. */
  proven(): void {
    this.#retryMs = 0;
  }

  /** Rejects with the signal's reason, once nothing of it works on the store any more. */
  async open(how: 'reopen' | 'restore', signal: AbortSignal): Promise<Opened> {
    const { partition, scheduler } = this.#dependencies;
    for (;;) {
      if (this.#retryMs > 0) await delay(scheduler, this.#retryMs, signal);
      this.#retryMs = Math.min(Math.max(this.#retryMs * 2, RETRY_MS_MIN), RETRY_MS_MAX);
      signal.throwIfAborted();
      try {
        return await this.#try(how, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (isEngineError(error) && error.code === 'META0011') return { kind: 'format' };
        onOpenFailed(partition, how, error);
        const hasLostWrites = isEngineError(error) && error.code === 'storage';
        if (how === 'reopen' && hasLostWrites) return { kind: 'lost-writes' };
      }
    }
  }

  async #try(how: 'reopen' | 'restore', signal: AbortSignal): Promise<Opened> {
    const { partition, openLog, stores } = this.#dependencies;
    this.#log ??= await within(openLog(partition), signal);
    const replica =
      how === 'restore' ? await stores.restore(partition, signal) : await stores.open(partition);
    signal.throwIfAborted();
    return { kind: 'opened', log: this.#log, replica };
  }
}

/** The promise, or the signal's reason when that comes first: nobody waits for a log that cannot be reached. */
function within<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(new EngineError('cancelled', 'the opening was called off'));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
  });
}
