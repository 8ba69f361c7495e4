/**
 * The channel of a process to all partitions, wherever they are led. Callers see a leader change as latency: their requests are
 * parked, and sent again under the same id, until there is a leader or they have waited as long as they may.
 *
 * Answers `overloaded` and `disconnected` only, never `stopping` or `not-leader`.
 */

import {
  partitionOfRequest,
  toPartitionId,
  type Hashes,
  type PartitionAnswer,
  type PartitionId,
  type PartitionRequest,
} from '@engine/domain';
import type { Cancellable, Clock, Random, Scheduler, Service } from '@engine/runtime';
import type { PartitionChannel, SentRequest } from '@engine/wire';

import { onOverflow } from '../events.js';
import { PARK_SWEEP_MS, RESEND_WINDOW_MS_MAX, ROUTED_MAX } from '../limits.js';
import { Lane, type LaneDependencies } from './lane.js';
import { workerAddresses, type LeaderDirectory } from './leader-directory.js';

/** A worker in this process: it is called, not connected to. */
export interface LocalWorker<Kind> {
  readonly nodeId: string;
  readonly service: Kind;
}

/** The ways to the workers: `WorkerLinks`, or a twin of it. */
export interface ChannelLinks {
  /** Open: a request may be sent. The same one for the same address, as long as it is kept. */
  channel(address: string): PartitionChannel & { readonly isOpen: boolean };
  /** `onOpen` is called whenever a channel has opened. */
  watch(onOpen: () => void): { cancel(): void };
  /** Closes the ways to everybody else. */
  keep(addresses: ReadonlySet<string>): void;
}

export interface PartitionRouterOptions {
  /** How long a request may wait for a leader; at most RESEND_WINDOW_MS_MAX. */
  readonly leaderWaitMs: number;
}

export interface PartitionRouterDependencies {
  readonly directory: LeaderDirectory;
  readonly links: ChannelLinks;
  /** Undefined: this process hosts no partitions. */
  readonly local?: LocalWorker<PartitionChannel> | undefined;
  readonly hashes: Hashes;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly random: Random;
}

const OVERLOADED: PartitionAnswer = { kind: 'unavailable', reason: 'overloaded' };
const DISCONNECTED: PartitionAnswer = { kind: 'unavailable', reason: 'disconnected' };

export class PartitionRouter implements PartitionChannel, Service {
  readonly #dependencies: PartitionRouterDependencies;
  readonly #lanes: readonly Lane[];
  readonly #keySpace: { readonly partitionCount: number; readonly hashes: Hashes };
  readonly #watches: { cancel(): void }[] = [];
  #sweep: Cancellable | undefined;
  #parkedCount = 0;
  #openCount = 0;
  #isStopped = false;

  constructor(options: PartitionRouterOptions, dependencies: PartitionRouterDependencies) {
    this.#dependencies = dependencies;
    const { directory, hashes } = dependencies;
    const { partitionCount } = directory.current;
    this.#keySpace = { partitionCount, hashes };
    const lane = this.#laneDependencies(Math.min(options.leaderWaitMs, RESEND_WINDOW_MS_MAX));
    this.#lanes = Array.from(
      { length: partitionCount },
      (_, id) => new Lane(toPartitionId(id), lane),
    );
  }

  /** Requests without an answer so far. */
  get openCount(): number {
    return this.#openCount;
  }

  /** Of those, the ones that wait for a leader. */
  get parkedCount(): number {
    return this.#parkedCount;
  }

  /** Begins to connect to every worker of the table. Resolves at once: requests wait for their leaders. */
  start(): Promise<void> {
    const { directory, links } = this.#dependencies;
    this.#watches.push(directory.watch(this.#tableChanged), links.watch(this.#rouse));
    this.#tableChanged();
    return Promise.resolve();
  }

  send(request: PartitionRequest, respond: (answer: PartitionAnswer) => void): SentRequest {
    const lane = this.#lanes[partitionOfRequest(request, this.#keySpace)];
    if (lane === undefined || this.#isStopped) return this.#refuse(DISCONNECTED, respond);
    if (this.#openCount >= ROUTED_MAX) {
      onOverflow('request');
      return this.#refuse(OVERLOADED, respond);
    }
    this.#openCount += 1;
    return lane.take(request, respond);
  }

  /** Effects: everybody who waits is answered `disconnected`. The links are closed by who made them. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    for (const watch of this.#watches) watch.cancel();
    for (const lane of this.#lanes) lane.stop();
    this.#sweep?.cancel();
    return Promise.resolve();
  }

  #refuse(answer: PartitionAnswer, respond: (answer: PartitionAnswer) => void): SentRequest {
    let isWithdrawn = false;
    this.#dependencies.scheduler.immediate(() => {
      if (!isWithdrawn) respond(answer);
    });
    return {
      withdraw: () => {
        isWithdrawn = true;
      },
    };
  }

  #laneDependencies(waitMsMax: number): LaneDependencies {
    const { clock, scheduler, random, directory } = this.#dependencies;
    return {
      clock,
      scheduler,
      waitMsMax,
      chance: () => random.float(),
      leader: (partition) => this.#leader(partition),
      refresh: () => {
        directory.refresh();
      },
      onParked: (change) => {
        this.#parkedCount += change;
        if (this.#parkedCount > 0) this.#sweepLater();
      },
      onOver: () => {
        this.#openCount -= 1;
      },
    };
  }

  #leader(partition: PartitionId): PartitionChannel | undefined {
    const { directory, local, links } = this.#dependencies;
    const leader = directory.current.leaderOf(partition);
    if (leader === undefined || this.#isStopped) return undefined;
    if (leader.nodeId === local?.nodeId) return local.service;
    const channel = links.channel(leader.address);
    return channel.isOpen ? channel : undefined;
  }

  readonly #tableChanged = (): void => {
    const { directory, local, links } = this.#dependencies;
    links.keep(workerAddresses(directory.current, local?.nodeId));
    this.#rouse();
  };

  readonly #rouse = (): void => {
    for (const lane of this.#lanes) lane.rouse();
  };

  #sweepLater(): void {
    if (this.#isStopped) return;
    this.#sweep ??= this.#dependencies.scheduler.after(PARK_SWEEP_MS, () => {
      this.#sweep = undefined;
      const now = this.#dependencies.clock.monotonic();
      for (const lane of this.#lanes) lane.expire(now);
      if (this.#parkedCount > 0) this.#sweepLater();
    });
  }
}
