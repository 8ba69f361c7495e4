/**
 * A simulated cluster: workers, admins and ingresses on a network, the servers that keep documents and logs, an object store,
 * deployments, and the doors for callers. Every part of the server inside is the one that ships; what they lean on are twins that
 * the seed drives.
 */

import type {
  Deployment,
  Hashes,
  PartitionAnswer,
  PartitionRequest,
  SchemaLookup,
} from '@engine/domain';
import { CLUSTER_DOCUMENT, encodeCluster } from '@engine/metadata';

import { checkRows } from '../checkers/store.js';
import { DeploymentFleet } from '../deployment/deployment-fleet.js';
import type { Handler } from '../deployment/handler-context.js';
import { calmDown, copyOfFaults, type Faults, type Plan } from '../plan.js';
import type { Chance } from '../simulator/chance.js';
import { errorText } from '../simulator/error-text.js';
import type { EventLoop } from '../simulator/event-loop.js';
import type { ServerProcess } from '../simulator/process.js';
import type { Trace } from '../simulator/trace.js';
import type { ServerPort, Withdraw } from '../workloads/client.js';
import type { Lab } from '../workloads/lab.js';
import { lookupOf } from '../workloads/schema.js';
import type { AdminNode } from './admin-node.js';
import { ClusterChecks } from './cluster-checks.js';
import { ClusterPicture } from './cluster-picture.js';
import { NO_HOOKS, type ClusterHooks } from './hooks.js';
import type { IngressNode } from './ingress-node.js';
import { LogTruth } from './log-truth.js';
import { configurationOf, Nodes } from './nodes.js';
import { ReplicaChecks } from './replica-checks.js';
import type { SimNode } from './sim-node.js';
import { Surroundings } from './surroundings.js';
import type { WorkerNode } from './worker-node.js';

export interface ClusterWorldDependencies {
  readonly plan: Plan;
  readonly chance: Chance;
  readonly loop: EventLoop;
  readonly lab: Lab;
  readonly trace: Trace;
  readonly hashes: Hashes;
  readonly handlers: (service: string, handler: string) => Handler | undefined;
  readonly deployments: readonly Deployment[];
  readonly hooks?: Partial<ClusterHooks>;
}

/** TTL of all leases, ms. */
const LEASE_TTL_MS = 15_000;

/** Between two looks at the lease of a process that is frozen. */
const FROZEN_LOOK_MS = 100;

export class ClusterWorld implements ServerPort {
  readonly faults: Faults;
  readonly surroundings: Surroundings;
  readonly truth: LogTruth;
  readonly checks: ClusterChecks;
  readonly replicas: ReplicaChecks;
  readonly picture: ClusterPicture;
  /** Processes that die are followed by others. */
  restartsByItself = true;
  readonly #dependencies: ClusterWorldDependencies;
  readonly #chance: Chance;
  readonly #fleet: DeploymentFleet;
  readonly #nodes: Nodes;
  #schema: SchemaLookup;
  #refusals = 0;

  constructor(dependencies: ClusterWorldDependencies) {
    const { plan, chance, loop, lab, hashes, deployments, handlers } = dependencies;
    this.#dependencies = dependencies;
    this.#chance = chance.branch('cluster');
    this.faults = copyOfFaults(plan.faults);
    this.#schema = lookupOf(deployments);
    this.surroundings = new Surroundings(dependencies);
    const { servers, documents } = this.surroundings;
    documents.seed(CLUSTER_DOCUMENT, encodeCluster(configurationOf(plan)));
    this.truth = new LogTruth({ servers, hashes, lab });
    this.checks = new ClusterChecks({
      truth: this.truth,
      lab,
      partitionCount: plan.partitions,
      isLeaseHeld: (process) =>
        this.workers.some((node) => node.process === process && node.leaseState === 'held'),
      kindOf: (service, handler) => this.#schema.handler(service, handler)?.kind,
      note: this.note,
    });
    this.replicas = new ReplicaChecks({ truth: this.truth, lab, checksum: hashes.xxh3 });
    this.#fleet = new DeploymentFleet({
      loop,
      chance: chance.branch('deployments'),
      faults: this.faults.deployment,
      handlers,
      observer: this.checks.attempts,
    });
    this.#nodes = new Nodes({
      ...dependencies,
      hooks: { ...NO_HOOKS, ...dependencies.hooks },
      chance: this.#chance,
      faults: this.faults,
      surroundings: this.surroundings,
      checks: this.checks,
      fleet: this.#fleet,
      leaseTtlMs: LEASE_TTL_MS,
      schema: () => this.#schema,
      note: this.note,
      restarts: () => this.restartsByItself,
      onDeath: (process) => {
        this.#workerDied(process);
      },
    });
    const { workers, truth } = this;
    this.picture = new ClusterPicture({ loop, documents, truth, workers });
  }

  get schema(): SchemaLookup {
    return this.#schema;
  }

  get workers(): readonly WorkerNode[] {
    return this.#nodes.workers;
  }

  get admins(): readonly AdminNode[] {
    return this.#nodes.admins;
  }

  get ingresses(): readonly IngressNode[] {
    return this.#nodes.ingresses;
  }

  get nodes(): readonly SimNode[] {
    return [...this.workers, ...this.admins, ...this.ingresses];
  }

  /** Answers of an ingress that a caller would see as an error. */
  get refusals(): number {
    return this.#refusals;
  }

  /** Processes that lived. */
  get lives(): number {
    return this.nodes.reduce((sum, { lives }) => sum + lives, 0);
  }

  /** True while nothing is to be decided, written, sent or run, and every replica has all of its log. */
  get isIdle(): boolean {
    const running = this.workers.flatMap(({ worker }) => (worker === undefined ? [] : [worker]));
    const isQuiet = running.every((worker) => worker.isIdle && worker.runningCount === 0);
    return isQuiet && this.picture.isAtRest;
  }

  readonly note = (text: string): void => {
    const { trace, loop } = this.#dependencies;
    trace.add(loop.now, text);
  };

  begin(): void {
    for (const node of this.nodes) node.start();
  }

  /** Registers more deployments; services that they serve move to them. */
  register(deployments: readonly Deployment[]): void {
    this.#schema = lookupOf([...this.#schema.schema.deployments, ...deployments]);
    this.note('new deployments');
  }

  send(
    request: PartitionRequest,
    respond: (answer: PartitionAnswer) => void,
    lost: () => void,
  ): Withdraw | undefined {
    const ready = this.ingresses.filter(({ isReady }) => isReady);
    if (ready.length === 0) return undefined;
    this.checks.asked(request);
    const hear = (answer: PartitionAnswer): void => {
      if (answer.kind === 'unavailable') this.#refusals += 1;
      respond(answer);
    };
    return this.#chance.pick(ready).send(request, hear, lost);
  }

  /** Everything works again: links are mended, who is frozen thaws, who is down starts. */
  heal(): void {
    this.note('everything is mended');
    calmDown(this.faults);
    this.surroundings.mend();
    this.restartsByItself = true;
    for (const node of this.nodes) {
      node.process?.crashAfterSteps(undefined);
      node.thaw();
      node.start();
    }
  }

  freeze(node: SimNode): void {
    const { process } = node;
    if (process === undefined || node.isFrozen) return;
    node.freeze();
    this.#watchFrozen(process);
  }

  /** What is wrong with the rows in the logs, and with the stores that follow them. */
  async look(): Promise<void> {
    const { lab } = this.#dependencies;
    const { partitions } = this.surroundings;
    for (const text of await checkRows(this.truth, partitions.length)) lab.violation(text);
    for (const node of this.workers) {
      // A store that nobody has opened since the power was cut is judged when it is.
      const open = partitions.filter((id) => this.picture.report(node, id)?.isCaughtUp === true);
      this.replicas.check(node, open);
    }
  }

  /** Once its lease is over others may run what runs there. */
  #watchFrozen(process: ServerProcess): void {
    const { overlap, attempts } = this.checks;
    this.#dependencies.loop.after(FROZEN_LOOK_MS, () => {
      if (!process.isFrozen) return;
      if (overlap.isZombie(process)) attempts.unheard(overlap.runningIn(process));
      else this.#watchFrozen(process);
    });
  }

  #workerDied(process: ServerProcess): void {
    const { lab } = this.#dependencies;
    this.#fleet.processDied(process);
    checkRows(this.truth, this.surroundings.partitions.length).then(
      (found) => {
        for (const text of found) lab.violation(text);
      },
      (error: unknown) => {
        lab.violation(`the rows of the logs cannot be read: ${errorText(error)}`);
      },
    );
  }
}
