/** A cluster in which nothing goes wrong but what the story plants. */

import { shardOfInvocation, toPartitionId, type InvocationId, type PartitionId } from '@engine/domain';

import type { ClusterShape } from '../cluster/cluster-plan.js';
import { ClusterWorld } from '../cluster/cluster-world.js';
import type { ClusterHooks } from '../cluster/hooks.js';
import type { Surroundings } from '../cluster/surroundings.js';
import type { WorkerNode } from '../cluster/worker-node.js';
import { decodeJson, type Callee, type Json } from '../deployment/handler-context.js';
import { readPlan } from '../plan.js';
import { setStage, type Stage } from '../run.js';
import type { ClientFaults } from '../workloads/client.js';
import { Client, resultText, type Outcome } from '../workloads/client.js';
import { Tally } from '../workloads/tally.js';

export interface StoryOptions {
  readonly seed?: number;
  readonly partitions?: number;
  readonly shape?: Partial<ClusterShape>;
  readonly hooks?: Partial<ClusterHooks>;
  readonly client?: Partial<ClientFaults>;
  /** Typical time of a piece of user code, ms. */
  readonly workMs?: number;
}

/** Longest virtual time for whatever a story waits for, ms. */
const WAIT_MS_MAX = 120_000;

const TRACE_LINES = 60;

export class Story {
  readonly stage: Stage;
  readonly world: ClusterWorld;
  readonly client: Client;
  readonly tally: Tally;
  readonly #onRejection: (error: unknown) => void;

  private constructor(stage: Stage, world: ClusterWorld, client: Client) {
    this.stage = stage;
    this.world = world;
    this.client = client;
    this.tally = new Tally(stage.lab);
    this.#onRejection = (error) => {
      stage.lab.violation(`a rejection that nobody handles: ${String(error)}`);
    };
    process.on('unhandledRejection', this.#onRejection);
  }

  /** Resolves when every partition is served, with standbys that have all of its log. */
  static async begin(options: StoryOptions = {}): Promise<Story> {
    const { seed = 1, partitions = 2, shape, hooks = {}, client: clientFaults, workMs } = options;
    const calm = readPlan('cluster-calm');
    const { faults } = calm;
    const plan = {
      ...calm,
      partitions,
      faults: {
        ...faults,
        client: { ...faults.client, ...clientFaults },
        deployment: { ...faults.deployment, workMs: workMs ?? faults.deployment.workMs },
      },
      cluster: calm.cluster === undefined ? undefined : { ...calm.cluster, ...shape },
    };
    const stage = await setStage(seed, plan);
    const world = new ClusterWorld({ ...stage, hooks });
    const { loop, lab, hashes, chance } = stage;
    const client = new Client({
      loop,
      chance: chance.branch('client'),
      faults: world.faults.client,
      hashes,
      schema: () => world.schema,
      server: world,
      lab,
    });
    const story = new Story(stage, world, client);
    world.restartsByItself = false;
    world.begin();
    await story.until('the cluster is at rest', () => world.picture.isAtRest);
    return story;
  }

  get violations(): readonly string[] {
    return this.stage.lab.violations;
  }

  /** Network, documents and logs of the cluster. */
  get around(): Surroundings {
    return this.world.surroundings;
  }

  /** Lets virtual time pass. */
  async pass(ms: number): Promise<void> {
    const { loop } = this.stage;
    let isOver = false;
    loop.after(ms, () => {
      isOver = true;
    });
    await loop.run(loop.now + ms, () => isOver);
  }

  /** Throws when it does not hold in time, with what happened last. Gives the ms that it took. */
  async until(what: string, holds: () => boolean, limitMs = WAIT_MS_MAX): Promise<number> {
    const { loop, trace } = this.stage;
    const begin = loop.now;
    const end = await loop.run(begin + limitMs, holds);
    if (end === 'done') return loop.now - begin;
    throw new Error([`${end} before ${what}`, ...trace.tail(TRACE_LINES)].join('\n'));
  }

  /** Resolves when every partition has a leader that serves, as the table says. Gives the ms that it took. */
  served(limitMs = WAIT_MS_MAX): Promise<number> {
    return this.until('every partition is served', () => this.world.picture.isServed, limitMs);
  }

  /** Lets time pass until the promise settles. */
  async done<T>(promise: Promise<T>, limitMs = WAIT_MS_MAX): Promise<T> {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    promise.then(settle, settle);
    await this.until('something is done', () => isSettled, limitMs);
    return promise;
  }

  /** What the calls come to, as values; a failure throws. */
  async value(call: Promise<Outcome>, limitMs = WAIT_MS_MAX): Promise<Json> {
    const { result } = await this.done(call, limitMs);
    if (result.kind === 'failure') throw new Error(resultText(result));
    return decodeJson(result.value);
  }

  partitionOf(id: InvocationId): PartitionId {
    return toPartitionId(shardOfInvocation(id, this.stage.plan.partitions));
  }

  /** The callee with a key that belongs to the partition. */
  within(partition: PartitionId, callee: Callee): Callee {
    for (let number = 0; ; number += 1) {
      const keyed = { ...callee, key: `key-${String(number)}` };
      if (this.partitionOf(this.client.idFor(keyed)) === partition) return keyed;
    }
  }

  /** An id of a partition, for a service without keys. */
  idWithin(partition: PartitionId, callee: Callee): InvocationId {
    for (;;) {
      const id = this.client.idFor(callee);
      if (this.partitionOf(id) === partition) return id;
    }
  }

  leader(partition: PartitionId): WorkerNode {
    const leader = this.world.picture.leaderOf(partition);
    if (leader === undefined) throw new Error(`nobody leads ${String(partition)}`);
    return leader;
  }

  standby(partition: PartitionId): WorkerNode {
    const [standby] = this.world.picture.standbysOf(partition);
    if (standby === undefined) throw new Error(`nobody follows ${String(partition)}`);
    return standby;
  }

  /** A worker that neither leads nor follows the partition. */
  bystander(partition: PartitionId): WorkerNode {
    const others = [this.leader(partition), this.standby(partition)];
    const bystander = this.world.workers.find((node) => !others.includes(node));
    if (bystander === undefined) throw new Error('every worker has a part');
    return bystander;
  }

  /** Lines of the event log, oldest first, that contain all of the words. */
  lines(...words: readonly string[]): readonly string[] {
    return this.stage.trace
      .tail(Number.POSITIVE_INFINITY)
      .filter((line) => words.every((word) => line.includes(word)));
  }

  /** Everything is mended and comes to rest; rows and stores are looked at. Gives every promise that was broken. */
  async end(): Promise<readonly string[]> {
    this.world.heal();
    await this.until('the cluster comes to rest', () => this.world.isIdle, 2 * WAIT_MS_MAX);
    await this.world.look();
    process.off('unhandledRejection', this.#onRejection);
    return this.violations;
  }

  /** Ends a story whose cluster cannot come to rest. */
  breakOff(): readonly string[] {
    process.off('unhandledRejection', this.#onRejection);
    return this.violations;
  }
}
