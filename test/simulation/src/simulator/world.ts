/**
 * A simulated world: one server process over a disk that outlives it, a network between its partitions, deployments, and the
 * doors for callers. The worker inside is the one that ships; everything around it is a twin that the seed drives.
 */

import {
  toPartitionId,
  type Deployment,
  type Hashes,
  type PartitionAnswer,
  type PartitionRequest,
  type SchemaLookup,
  type TargetKind,
} from '@engine/domain';
import type { PartitionLog } from '@engine/log';
import { EmbeddedLog } from '@engine/storage-leveldb';
import { Worker, workerOptions } from '@engine/worker';

import { AttemptChecks } from '../checkers/attempt-checks.js';
import { DurabilityChecker } from '../checkers/durability.js';
import { EffectsChecker } from '../checkers/effects.js';
import { ExclusivityChecker } from '../checkers/exclusivity.js';
import { PausesChecker } from '../checkers/pauses.js';
import { checkRows } from '../checkers/store.js';
import { DeploymentFleet } from '../deployment/deployment-fleet.js';
import type { Handler } from '../deployment/handler-context.js';
import { calmDown, copyOfFaults, type Faults, type Plan } from '../plan.js';
import type { ServerPort, Withdraw } from '../workloads/client.js';
import type { Lab } from '../workloads/lab.js';
import { HANDLER_DEFAULTS, lookupOf } from '../workloads/schema.js';
import type { Chance } from './chance.js';
import { SimDisk } from './disk.js';
import { DurableView } from './durable-view.js';
import { errorText } from './error-text.js';
import type { EventLoop } from './event-loop.js';
import { SimKvStore } from './kv-store.js';
import { SimNetwork } from './network.js';
import { ServerProcess } from './process.js';
import { GENERATION } from './rows-view.js';
import { subjectOf } from './request-subject.js';
import type { Trace } from './trace.js';

/** Wraps the log of a partition; lets a test break a rule on purpose. */
export type LogWrapper = (log: PartitionLog) => PartitionLog;

export interface WorldDependencies {
  readonly plan: Plan;
  readonly chance: Chance;
  readonly loop: EventLoop;
  readonly lab: Lab;
  readonly trace: Trace;
  readonly hashes: Hashes;
  readonly handlers: (service: string, handler: string) => Handler | undefined;
  readonly deployments: readonly Deployment[];
  readonly wrapLog: LogWrapper;
}

/** Steps outward after which a crash may come that was announced. */
const STEPS_MAX = 40;

interface Running {
  readonly process: ServerProcess;
  readonly worker: Worker;
  isReady: boolean;
  readonly waiting: Set<() => void>;
}

export class World implements ServerPort {
  readonly view: DurableView;
  readonly faults: Faults;
  readonly #dependencies: WorldDependencies;
  readonly #disk: SimDisk;
  readonly #network: SimNetwork;
  readonly #fleet: DeploymentFleet;
  readonly #durability: DurabilityChecker;
  readonly #pauses: PausesChecker;
  readonly #chance: Chance;
  #schema: SchemaLookup;
  #areFaultsOver = false;
  #running: Running | undefined;
  #lives = 0;

  constructor(dependencies: WorldDependencies) {
    const { plan, chance, loop, lab } = dependencies;
    const partitionCount = plan.partitions;
    this.#dependencies = dependencies;
    this.#chance = chance.branch('world');
    this.faults = copyOfFaults(plan.faults);
    this.#schema = lookupOf(dependencies.deployments);
    this.#disk = new SimDisk({ loop, chance: chance.branch('disk'), faults: this.faults.disk });
    this.view = new DurableView(this.#disk);
    this.#durability = new DurabilityChecker({ view: this.view, lab, partitionCount });
    this.#pauses = new PausesChecker(lab);
    const kindOf = (service: string, handler: string): TargetKind | undefined =>
      this.#schema.handler(service, handler)?.kind;
    const attempts = new AttemptChecks({
      lab,
      note: (text) => {
        this.#note(text);
      },
      durability: this.#durability,
      effects: new EffectsChecker({ view: this.view, lab, partitionCount }),
      exclusivity: new ExclusivityChecker(lab, kindOf),
      pauses: this.#pauses,
    });
    this.#network = new SimNetwork({
      loop,
      chance: chance.branch('network'),
      faults: this.faults.network,
      receiver: () => (this.#running?.isReady === true ? this.#running.worker : undefined),
    });
    this.#fleet = new DeploymentFleet({
      loop,
      chance: chance.branch('deployments'),
      faults: this.faults.deployment,
      handlers: dependencies.handlers,
      observer: attempts,
    });
  }

  get schema(): SchemaLookup {
    return this.#schema;
  }

  get lives(): number {
    return this.#lives;
  }

  /** True while the server has nothing to decide, to write or to run. */
  get isIdle(): boolean {
    const running = this.#running;
    return running?.isReady === true && running.worker.isIdle && running.worker.runningCount === 0;
  }

  /** Registers more deployments; services that they serve move to them. */
  register(deployments: readonly Deployment[]): void {
    this.#schema = lookupOf([...this.#schema.schema.deployments, ...deployments]);
    this.#note('new deployments');
  }

  /** Starts the first process, and the faults. */
  begin(): void {
    this.#startProcess();
    this.#planCrash();
    this.#dependencies.loop.after(this.#dependencies.plan.faultsUntilMs, () => {
      calmDown(this.faults);
      this.#areFaultsOver = true;
      this.#running?.process.crashAfterSteps(undefined);
      this.#note('faults stop');
    });
  }

  crash(reason: string): void {
    this.#running?.process.crash(reason);
  }

  send(
    request: PartitionRequest,
    respond: (answer: PartitionAnswer) => void,
    lost: () => void,
  ): Withdraw | undefined {
    const running = this.#running;
    if (running?.isReady !== true) return undefined;
    running.waiting.add(lost);
    this.#durability.asked(request);
    running.worker.send(request, (answer) => {
      if (!running.process.stepOutward()) return;
      running.waiting.delete(lost);
      this.#note(
        `answer ${request.requestId} ${request.kind} ${answer.kind === 'operation' ? answer.outcome : answer.kind}`,
      );
      this.#durability.answered(request, answer);
      this.#pauses.answered(request, answer);
      respond(answer);
    });
    this.#note(`request ${request.requestId} ${request.kind} ${subjectOf(request)}`);
    return () => undefined;
  }

  #note(text: string): void {
    this.#dependencies.trace.add(this.#dependencies.loop.now, text);
  }

  // Life and death of the server process.

  #startProcess(): void {
    const { loop, lab } = this.#dependencies;
    this.#lives += 1;
    const name = `server ${String(this.#lives)}`;
    const process = new ServerProcess(name, {
      loop,
      chance: this.#chance,
      clockSkewMs: this.faults.process.clockSkewMs,
      onCrash: (reason) => {
        this.#died(process, reason);
      },
      onUncaught: (error) => {
        lab.violation(`${name} threw ${errorText(error)}`);
        process.crash('an exception');
      },
    });
    this.#note(`${name} starts`);
    const worker = this.#makeWorker(process);
    const running: Running = { process, worker, isReady: false, waiting: new Set() };
    this.#running = running;
    worker.start().then(
      () => {
        running.isReady = process.isAlive;
        if (process.isAlive) this.#note(`${name} is ready`);
      },
      (error: unknown) => {
        if (!process.isAlive) return;
        this.#onFatal(process, error);
      },
    );
  }

  #makeWorker(process: ServerProcess): Worker {
    const { plan, hashes, wrapLog } = this.#dependencies;
    const store = new SimKvStore(this.#disk, process);
    const places = Array.from({ length: plan.partitions }, (_, id) => ({
      partition: toPartitionId(id),
      generation: GENERATION,
    }));
    const onFatal = (error: unknown): void => {
      this.#onFatal(process, error);
    };
    const opening = EmbeddedLog.open({ places }, { store, onFatal });
    return new Worker(
      workerOptions({
        partitionCount: plan.partitions,
        clusterName: 'simulated',
        concurrentInvocationsMax: plan.slots,
        timersInMemoryMax: plan.timersInMemory,
        inactivityTimeoutMs: HANDLER_DEFAULTS.inactivityTimeoutMs,
        abortTimeoutMs: HANDLER_DEFAULTS.abortTimeoutMs,
        retryPolicy: HANDLER_DEFAULTS.retryPolicy,
        eagerStateBytesMax: this.#chance.pick([undefined, 64]),
      }),
      {
        clock: process.clock,
        scheduler: process.scheduler,
        random: process.random,
        hashes,
        schema: () => this.#schema,
        transport: this.#fleet.transportFor(process),
        openPartition: async (id) => ({
          place: { partition: id, generation: GENERATION },
          store,
          log: wrapLog((await opening).partition(id)),
        }),
        peer: {
          deliver: (batch) => {
            if (!process.stepOutward()) return;
            this.#note(
              `messages ${String(batch.sender)}→${String(batch.destination)} from ${String(batch.first)}, ${batch.messages.map((message) => message.kind).join()}`,
            );
            this.#durability.delivered(batch);
            this.#network.deliver(batch);
          },
          acknowledge: (ack) => {
            if (!process.stepOutward()) return;
            this.#note(`ack ${String(ack.sender)}→${String(ack.destination)} ${String(ack.upTo)}`);
            this.#durability.acknowledged(ack);
            this.#network.acknowledge(ack);
          },
        },
        onFatal,
      },
    );
  }

  #onFatal(process: ServerProcess, error: unknown): void {
    if (!process.isAlive) return;
    const text = errorText(error);
    if (!text.includes('input/output error')) {
      this.#dependencies.lab.violation(`${process.name} cannot go on: ${text}`);
    }
    process.crash('fatal');
  }

  #died(process: ServerProcess, reason: string): void {
    const { loop, lab, plan } = this.#dependencies;
    const running = this.#running;
    this.#running = undefined;
    const { lost, landed } = this.#disk.crash();
    this.#note(`${process.name} dies: ${reason}; lost ${String(lost)}, landed ${String(landed)}`);
    this.#fleet.processDied(process);
    for (const tell of running?.waiting ?? []) tell();
    running?.worker.kill();
    checkRows(this.view, plan.partitions).then(
      (found) => {
        for (const text of found) lab.violation(text);
      },
      (error: unknown) => {
        lab.violation(`the rows cannot be read: ${errorText(error)}`);
      },
    );
    loop.after(this.#chance.between(1, this.faults.process.downMsMax), () => {
      this.#startProcess();
    });
  }

  #planCrash(): void {
    const { crashEveryMs, stopShare } = this.faults.process;
    if (crashEveryMs === 0) return;
    // Times between crashes have no memory.
    const wait = -Math.log(1 - this.#chance.float()) * crashEveryMs;
    this.#dependencies.loop.after(wait, () => {
      if (this.#areFaultsOver) return;
      const process = this.#running?.process;
      if (this.#chance.happens(stopShare)) this.#stop();
      else if (this.#chance.happens(0.3)) process?.crash('killed');
      else process?.crashAfterSteps(this.#chance.between(1, STEPS_MAX));
      this.#planCrash();
    });
  }

  /** An orderly stop; the process ends when the worker has. */
  #stop(): void {
    const running = this.#running;
    if (running?.isReady !== true) return;
    this.#note(`${running.process.name} stops`);
    running.worker[Symbol.asyncDispose]().then(
      () => {
        running.process.crash('stopped');
      },
      (error: unknown) => {
        this.#onFatal(running.process, error);
      },
    );
  }
}
