/**
 * The servers that keep the logs: one stream per partition (`SimulatedStream` of packages/nats with its faults), reached over links
 * that can be cut. A scenario may interfere with single publishes.
 */

import { toPartitionId, type PartitionId } from '@engine/domain';
import { SimulatedStream, type LogStream, type StreamFaults } from '@engine/nats/contract';

import type { Chance } from '../simulator/chance.js';
import { EPOCH_MS, type EventLoop } from '../simulator/event-loop.js';
import type { Links } from './links.js';
import { ProcessStream, type StreamUser } from './process-stream.js';

/** Name of the service on the network. */
export const LOG_SERVERS = 'log';

/** What happens to one publish; undefined: nothing out of order. */
export type Interference =
  /** It never arrives. */
  | { readonly kind: 'lose' }
  /** It arrives after `ms`, and its answer is lost. */
  | { readonly kind: 'delay'; readonly ms: number };

export interface Publish {
  readonly by: string;
  readonly partition: PartitionId;
  readonly payload: Uint8Array;
  readonly expectedLast: number;
}

/** Looks at every publish before it leaves, and says what becomes of it. */
export type Interfere = (publish: Publish) => Interference | undefined;

export class LogServers {
  readonly streams: readonly SimulatedStream[];
  interfere: Interfere = () => undefined;
  readonly #loop: EventLoop;
  readonly #links: Links;
  readonly #views = new Set<ProcessStream>();
  #isUp = true;

  constructor(
    partitionCount: number,
    dependencies: {
      readonly loop: EventLoop;
      readonly chance: Chance;
      readonly links: Links;
      readonly payloadBytesMax: number;
    },
  ) {
    const { loop, chance, links, payloadBytesMax } = dependencies;
    this.#loop = loop;
    this.#links = links;
    this.streams = Array.from({ length: partitionCount }, (_, id) => {
      const stream = new SimulatedStream({
        scheduler: {
          immediate: (fn) => loop.after(0, fn),
          after: (ms, fn) => loop.after(ms, fn),
        },
        random: chance.branch(`stream ${String(id)}`),
        now: () => EPOCH_MS + Math.floor(loop.now),
      });
      stream.payloadBytesMax = payloadBytesMax;
      return stream;
    });
    links.watch(() => {
      this.#linksChanged();
    });
  }

  /** False: nobody answers, as while a majority of the servers is gone. */
  set isUp(isUp: boolean) {
    this.#isUp = isUp;
    this.#linksChanged();
  }

  set faults(faults: StreamFaults) {
    for (const stream of this.streams) stream.faults = faults;
  }

  stream(partition: PartitionId): SimulatedStream {
    const stream = this.streams[partition];
    if (stream === undefined) throw new Error(`there is no partition ${String(partition)}`);
    return stream;
  }

  /** The stream as one process sees it. */
  streamFor(user: StreamUser, partition: PartitionId): LogStream {
    const stream = this.stream(partition);
    const view = new ProcessStream(user, stream, (publish) =>
      this.#pass(stream, { by: user.id, partition, ...publish }),
    );
    view.isCutOff = this.#isCutOff(user);
    this.#views.add(view);
    user.process.died.addEventListener('abort', () => this.#views.delete(view));
    return view;
  }

  partitions(): readonly PartitionId[] {
    return this.streams.map((_, id) => toPartitionId(id));
  }

  /** True when the publish takes its usual way. */
  #pass(stream: SimulatedStream, publish: Publish): boolean {
    const interference = this.interfere(publish);
    if (interference === undefined) return true;
    if (interference.kind === 'delay') {
      this.#loop.after(interference.ms, () => {
        stream.arrive(publish.payload, publish.expectedLast, () => undefined);
      });
    }
    return false;
  }

  #isCutOff({ id }: StreamUser): boolean {
    return !this.#isUp || this.#links.isCut(id, LOG_SERVERS);
  }

  #linksChanged(): void {
    for (const view of this.#views) view.isCutOff = this.#isCutOff(view.user);
  }
}
