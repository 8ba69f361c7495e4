/** Makes the nodes of a cluster, each with what its processes lean on. */

import type { ClusterConfiguration, Hashes, PartitionId, SchemaLookup } from '@engine/domain';
import type { SharedLog } from '@engine/log';
import { StreamLog } from '@engine/nats';
import { workerOptions, type WorkerOptions } from '@engine/worker';

import type { DeploymentFleet } from '../deployment/deployment-fleet.js';
import type { Faults, Plan } from '../plan.js';
import type { Chance } from '../simulator/chance.js';
import { SimDisk } from '../simulator/disk.js';
import type { ServerProcess } from '../simulator/process.js';
import type { Lab } from '../workloads/lab.js';
import { HANDLER_DEFAULTS } from '../workloads/schema.js';
import { AdminNode } from './admin-node.js';
import type { ClusterChecks } from './cluster-checks.js';
import type { ClusterHooks } from './hooks.js';
import { IngressNode } from './ingress-node.js';
import { LOG_IDENTITY } from './log-truth.js';
import type { NodeSurroundings } from './sim-node.js';
import type { Surroundings } from './surroundings.js';
import { WorkerNode } from './worker-node.js';

export interface NodesDependencies {
  readonly plan: Plan;
  readonly faults: Faults;
  readonly chance: Chance;
  readonly lab: Lab;
  readonly hashes: Hashes;
  readonly hooks: ClusterHooks;
  readonly surroundings: Surroundings;
  readonly checks: ClusterChecks;
  readonly fleet: DeploymentFleet;
  readonly leaseTtlMs: number;
  readonly schema: () => SchemaLookup;
  readonly note: (text: string) => void;
  readonly restarts: () => boolean;
  readonly onDeath: (process: ServerProcess) => void;
}

export class Nodes {
  readonly workers: readonly WorkerNode[];
  readonly admins: readonly AdminNode[];
  readonly ingresses: readonly IngressNode[];
  readonly #dependencies: NodesDependencies;

  constructor(dependencies: NodesDependencies) {
    this.#dependencies = dependencies;
    const { workers, admins, ingresses } = dependencies.surroundings.shape;
    this.workers = named('w', workers, (id) => this.#makeWorker(id));
    this.admins = named('a', admins, (id) => this.#makeAdmin(id));
    this.ingresses = named('i', ingresses, (id) => this.#makeIngress(id));
  }

  readonly #worker = (address: string): WorkerNode | undefined =>
    this.workers.find((node) => node.id === address);

  #common(): NodeSurroundings & {
    readonly links: Surroundings['links'];
    readonly documents: Surroundings['documents'];
    readonly hashes: Hashes;
  } {
    const { lab, chance, faults, note, restarts, surroundings, hashes } = this.#dependencies;
    const { process } = faults;
    const { links, documents } = surroundings;
    return {
      loop: lab.loop,
      lab,
      chance,
      clockSkewMs: () => process.clockSkewMs,
      note,
      restartAfterMs: () => (restarts() ? chance.between(1, process.downMsMax) : undefined),
      links,
      documents,
      hashes,
    };
  }

  #makeWorker(id: string): WorkerNode {
    const { lab, chance, faults, plan, hooks, checks, fleet, surroundings, onDeath } =
      this.#dependencies;
    const disk = new SimDisk({
      loop: lab.loop,
      chance: chance.branch(`disk of ${id}`),
      faults: faults.disk,
    });
    return new WorkerNode(id, disk, {
      ...this.#common(),
      checks,
      hooks,
      leaseTtlMs: this.#dependencies.leaseTtlMs,
      partitionCount: plan.partitions,
      worker: this.#worker,
      node: this.#worker,
      messageFaults: surroundings.messageFaults,
      schema: this.#dependencies.schema,
      snapshots: surroundings.snapshots,
      optionsOf: (node) => hooks.optionsOf(node, this.#options()),
      transportFor: (process) => fleet.transportFor(process),
      openLog: (node, partition) => this.#openLog(node, partition),
      onDeath,
    });
  }

  #makeAdmin(id: string): AdminNode {
    const { plan, hooks, leaseTtlMs, surroundings } = this.#dependencies;
    return new AdminNode(id, {
      ...this.#common(),
      cluster: configurationOf(plan),
      leaseTtlMs,
      tuning: { standbyCount: surroundings.shape.standbys },
      formats: hooks.formatsOf(id),
      node: this.#worker,
    });
  }

  #makeIngress(id: string): IngressNode {
    const { plan, surroundings } = this.#dependencies;
    return new IngressNode(id, {
      ...this.#common(),
      partitionCount: plan.partitions,
      leaderWaitMs: surroundings.shape.leaderWaitMs,
      worker: this.#worker,
      messageFaults: surroundings.messageFaults,
    });
  }

  #options(): WorkerOptions {
    const { plan, chance } = this.#dependencies;
    return workerOptions({
      partitionCount: plan.partitions,
      clusterName: LOG_IDENTITY.cluster,
      concurrentInvocationsMax: plan.slots,
      timersInMemoryMax: plan.timersInMemory,
      inactivityTimeoutMs: HANDLER_DEFAULTS.inactivityTimeoutMs,
      abortTimeoutMs: HANDLER_DEFAULTS.abortTimeoutMs,
      retryPolicy: HANDLER_DEFAULTS.retryPolicy,
      eagerStateBytesMax: chance.pick([undefined, 64]),
    });
  }

  #openLog(node: WorkerNode, partition: PartitionId): SharedLog {
    const { process } = node;
    if (process === undefined) throw new Error('a process opens its logs while it lives');
    const { hashes, hooks, surroundings, checks } = this.#dependencies;
    const stream = surroundings.servers.streamFor({ id: node.id, process }, partition);
    const log = new StreamLog(
      { identity: { ...LOG_IDENTITY, partition } },
      {
        stream: hooks.stream(stream, node.id, partition),
        checksum: hashes.xxh3,
        clock: process.clock,
        scheduler: process.scheduler,
      },
    );
    return checks.leaders.watched(hooks.log(log, node.id), process.name, partition);
  }
}

/** As it was provisioned. */
export function configurationOf({ partitions: partitionCount }: Plan): ClusterConfiguration {
  const { cluster: name } = LOG_IDENTITY;
  return { id: name, name, partitionCount, replicas: 3, formatVersion: 1 };
}

function named<Node>(letter: string, count: number, make: (id: string) => Node): readonly Node[] {
  return Array.from({ length: count }, (_, index) => make(`${letter}${String(index)}`));
}
