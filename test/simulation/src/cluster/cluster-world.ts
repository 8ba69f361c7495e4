/**
 * A simulated cluster: workers, admins and ingresses on a network, the servers that keep documents and logs, an object store,
 * deployments, and the doors for callers. Every part of the server inside is the one that ships; what they lean on are twins that
 * the seed drives.
 */

import {
  SchemaLookup,
  type ClusterConfiguration,
  type Deployment,
  type Hashes,
  type PartitionAnswer,
  type PartitionId,
  type PartitionRequest,
} from '@engine/domain';
import type { SharedLog } from '@engine/log';
import { CLUSTER_DOCUMENT, encodeCluster, leaseTimes } from '@engine/metadata';
import { StreamLog } from '@engine/nats';
import { workerOptions, type WorkerOptions } from '@engine/worker';

import { checkRows } from '../checkers/store.js';
import { DeploymentFleet } from '../deployment/deployment-fleet.js';
import type { Handler } from '../deployment/handler-context.js';
import { calmDown, copyOfFaults, type Faults, type Plan } from '../plan.js';
import type { Chance } from '../simulator/chance.js';
import { SimDisk } from '../simulator/disk.js';
import { errorText } from '../simulator/error-text.js';
import type { EventLoop } from '../simulator/event-loop.js';
import type { ServerProcess } from '../simulator/process.js';
import type { Trace } from '../simulator/trace.js';
import type { ServerPort, Withdraw } from '../workloads/client.js';
import type { Lab } from '../workloads/lab.js';
import { HANDLER_DEFAULTS, lookupOf } from '../workloads/schema.js';
import { AdminNode } from './admin-node.js';
import { ClusterChecks } from './cluster-checks.js';
import { ClusterPicture } from './cluster-picture.js';
import { CALM_CLUSTER, calmCluster, type ClusterShape } from './cluster-plan.js';
import { SimDocuments } from './documents.js';
import { IngressNode } from './ingress-node.js';
import { Links } from './links.js';
import { LOG_IDENTITY, LogTruth } from './log-truth.js';
import { LogServers } from './log-servers.js';
import { ReplicaChecks } from './replica-checks.js';
import { NO_HOOKS, type ClusterHooks } from './hooks.js';
import type { NodeSurroundings, SimNode } from './sim-node.js';
import { SimSnapshots } from './snapshots.js';
import { WorkerNode } from './worker-node.js';

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

export class ClusterWorld implements ServerPort {
  readonly faults: Faults;
  readonly shape: ClusterShape;
  readonly links: Links;
  readonly documents: SimDocuments;
  readonly servers: LogServers;
  readonly truth: LogTruth;
  readonly snapshots = new SimSnapshots();
  readonly checks: ClusterChecks;
  readonly replicas: ReplicaChecks;
  readonly picture: ClusterPicture;
  readonly workers: readonly WorkerNode[];
  readonly admins: readonly AdminNode[];
  readonly ingresses: readonly IngressNode[];
  /** Processes that die are followed by others. */
  restartsByItself = true;
  readonly #dependencies: ClusterWorldDependencies;
  readonly #hooks: ClusterHooks;
  readonly #chance: Chance;
  readonly #fleet: DeploymentFleet;
  readonly #linkFaults: { loss: number; delayMs: number; delayMsMax: number };
  readonly #documentFaults: { answerLoss: number; delayMs: number; delayMsMax: number };
  readonly #messageFaults: { loss: number; repetition: number };
  #schema: SchemaLookup;
  #refusals = 0;

  constructor(dependencies: ClusterWorldDependencies) {
    const { plan, chance, loop, lab, hashes } = dependencies;
    this.#dependencies = dependencies;
    this.#hooks = { ...NO_HOOKS, ...dependencies.hooks };
    this.#chance = chance.branch('cluster');
    this.faults = copyOfFaults(plan.faults);
    this.shape = { ...(plan.cluster ?? CALM_CLUSTER) };
    this.#schema = lookupOf(dependencies.deployments);
    const { messageLoss, messageRepetition, documentAnswerLoss, payloadBytesMax } = this.shape;
    const { delayMs, delayMsMax } = this.faults.network;
    this.#linkFaults = { loss: messageLoss, delayMs, delayMsMax };
    this.#documentFaults = { answerLoss: documentAnswerLoss, delayMs: 2, delayMsMax: 60 };
    this.#messageFaults = { loss: messageLoss, repetition: messageRepetition };
    const room = (name: string) => ({ loop, chance: chance.branch(name) });
    this.links = new Links({ ...room('links'), faults: this.#linkFaults });
    const { links } = this;
    const faults = this.#documentFaults;
    this.documents = new SimDocuments({ ...room('documents'), faults, links });
    this.servers = new LogServers(plan.partitions, { ...room('logs'), links, payloadBytesMax });
    this.truth = new LogTruth({ servers: this.servers, hashes, lab });
    this.checks = new ClusterChecks({
      truth: this.truth,
      lab,
      partitionCount: plan.partitions,
      abortAfterMs: leaseTimes(LEASE_TTL_MS).abortAfterMs,
      kindOf: (service, handler) => this.#schema.handler(service, handler)?.kind,
      note: this.note,
    });
    this.replicas = new ReplicaChecks({ truth: this.truth, lab, checksum: hashes.xxh3 });
    this.#fleet = new DeploymentFleet({
      ...room('deployments'),
      faults: this.faults.deployment,
      handlers: dependencies.handlers,
      observer: this.checks.attempts,
    });
    const cluster = this.#configuration();
    this.documents.seed(CLUSTER_DOCUMENT, encodeCluster(cluster));
    this.workers = named('w', this.shape.workers, (id) => this.#makeWorker(id));
    this.admins = named('a', this.shape.admins, (id) => this.#makeAdmin(id, cluster));
    this.ingresses = named('i', this.shape.ingresses, (id) => this.#makeIngress(id));
    this.picture = new ClusterPicture({
      loop,
      documents: this.documents,
      truth: this.truth,
      workers: this.workers,
      partitionCount: plan.partitions,
    });
    this.setLogFaults();
  }

  get schema(): SchemaLookup {
    return this.#schema;
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

  /** What the shape says of the logs is in force from now on. */
  setLogFaults(): void {
    const { lostAppend, lateAppend, lostAck, leaderChange } = this.shape;
    this.servers.faults = {
      lostRequest: lostAppend,
      lateRequest: lateAppend,
      lostAnswer: lostAck,
      leaderChange,
    };
  }

  /** Everything works again: links are mended, who is frozen thaws, who is down starts. */
  heal(): void {
    this.note('everything is mended');
    calmDown(this.faults);
    calmCluster(this.shape);
    Object.assign(this.#linkFaults, { loss: 0 });
    Object.assign(this.#documentFaults, { answerLoss: 0, delayMsMax: 60 });
    Object.assign(this.#messageFaults, { loss: 0, repetition: 0 });
    this.setLogFaults();
    this.links.mendAll();
    this.documents.isUp = true;
    this.servers.isUp = true;
    this.restartsByItself = true;
    for (const node of this.nodes) {
      node.process?.crashAfterSteps(undefined);
      node.thaw();
      node.start();
    }
  }

  /** The documents take so long from now on, ms. */
  slowDocuments(delayMsMax: number): void {
    this.#documentFaults.delayMsMax = delayMsMax;
  }

  freeze(node: SimNode): void {
    const { process } = node;
    if (process === undefined || node.isFrozen) return;
    node.freeze();
    // From then on others may run what runs here.
    this.#dependencies.loop.after(leaseTimes(LEASE_TTL_MS).abortAfterMs, () => {
      if (!this.checks.overlap.isZombie(process)) return;
      this.checks.attempts.unheard(this.checks.overlap.runningIn(process));
    });
  }

  /** What is wrong with the rows in the logs, and with the stores that follow them. */
  async look(): Promise<void> {
    const { lab } = this.#dependencies;
    const { partitions } = this.picture;
    for (const text of await checkRows(this.truth, partitions.length)) lab.violation(text);
    for (const node of this.workers) {
      // A store that nobody has opened since the power was cut is judged when it is.
      const open = partitions.filter((id) => this.picture.report(node, id)?.isCaughtUp === true);
      this.replicas.check(node, open);
    }
  }

  #configuration(): ClusterConfiguration {
    const { partitions: partitionCount } = this.#dependencies.plan;
    const { cluster: name } = LOG_IDENTITY;
    return { id: name, name, partitionCount, replicas: 3, formatVersion: 1 };
  }

  #surroundings(): NodeSurroundings {
    const { loop, lab } = this.#dependencies;
    const { process } = this.faults;
    return {
      loop,
      lab,
      chance: this.#chance,
      clockSkewMs: () => process.clockSkewMs,
      note: this.note,
      restartAfterMs: () =>
        this.restartsByItself ? this.#chance.between(1, process.downMsMax) : undefined,
    };
  }

  #makeWorker(id: string): WorkerNode {
    const { loop, chance, hashes, plan } = this.#dependencies;
    const disk = new SimDisk({
      loop,
      chance: chance.branch(`disk of ${id}`),
      faults: this.faults.disk,
    });
    return new WorkerNode(id, disk, {
      ...this.#surroundings(),
      links: this.links,
      documents: this.documents,
      checks: this.checks,
      leaseTtlMs: LEASE_TTL_MS,
      partitionCount: plan.partitions,
      worker: (address) => this.workers.find((node) => node.id === address),
      node: (address) => this.workers.find((node) => node.id === address),
      messageFaults: this.#messageFaults,
      hashes,
      hooks: this.#hooks,
      schema: () => this.#schema,
      snapshots: this.snapshots,
      optionsOf: (node) => this.#optionsOf(node),
      transportFor: (process) => this.#fleet.transportFor(process),
      openLog: (node, partition) => this.#openLog(node, partition),
      onDeath: (node, process) => {
        this.#workerDied(node, process);
      },
    });
  }

  #makeAdmin(id: string, cluster: ClusterConfiguration): AdminNode {
    return new AdminNode(id, {
      ...this.#surroundings(),
      links: this.links,
      documents: this.documents,
      hashes: this.#dependencies.hashes,
      cluster,
      leaseTtlMs: LEASE_TTL_MS,
      tuning: { standbyCount: this.shape.standbys },
      formats: this.#hooks.formatsOf(id),
      node: (address) => this.workers.find((node) => node.id === address),
    });
  }

  #makeIngress(id: string): IngressNode {
    const { hashes, plan } = this.#dependencies;
    return new IngressNode(id, {
      ...this.#surroundings(),
      links: this.links,
      documents: this.documents,
      hashes,
      partitionCount: plan.partitions,
      leaderWaitMs: this.shape.leaderWaitMs,
      worker: (address) => this.workers.find((node) => node.id === address),
      messageFaults: this.#messageFaults,
    });
  }

  #optionsOf(node: string): WorkerOptions {
    const { plan } = this.#dependencies;
    const options = workerOptions({
      partitionCount: plan.partitions,
      clusterName: LOG_IDENTITY.cluster,
      concurrentInvocationsMax: plan.slots,
      timersInMemoryMax: plan.timersInMemory,
      inactivityTimeoutMs: HANDLER_DEFAULTS.inactivityTimeoutMs,
      abortTimeoutMs: HANDLER_DEFAULTS.abortTimeoutMs,
      retryPolicy: HANDLER_DEFAULTS.retryPolicy,
      eagerStateBytesMax: this.#chance.pick([undefined, 64]),
    });
    return this.#hooks.optionsOf(node, options);
  }

  #openLog(node: WorkerNode, partition: PartitionId): SharedLog {
    const { process } = node;
    if (process === undefined) throw new Error('a process opens its logs while it lives');
    const { hashes } = this.#dependencies;
    const stream = this.servers.streamFor({ id: node.id, process }, partition);
    const log = new StreamLog(
      { identity: { ...LOG_IDENTITY, partition } },
      {
        stream: this.#hooks.stream(stream, node.id, partition),
        checksum: hashes.xxh3,
        clock: process.clock,
        scheduler: process.scheduler,
      },
    );
    const used = this.#hooks.log(log, node.id);
    return this.checks.leaders.watched(used, process.name, partition);
  }

  #workerDied(node: WorkerNode, process: ServerProcess): void {
    const { lab } = this.#dependencies;
    this.#fleet.processDied(process);
    checkRows(this.truth, this.servers.streams.length).then(
      (found) => {
        for (const text of found) lab.violation(text);
      },
      (error: unknown) => {
        lab.violation(`the rows of the logs cannot be read: ${errorText(error)}`);
      },
    );
  }
}

function named<Node>(letter: string, count: number, make: (id: string) => Node): readonly Node[] {
  return Array.from({ length: count }, (_, index) => make(`${letter}${String(index)}`));
}
