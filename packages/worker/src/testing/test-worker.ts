/** A worker with memory twins on virtual time, and what a test needs to talk to it. */

import {
  DEFAULT_RETRY_POLICY,
  deploymentIdFromUlid,
  loadHashes,
  SchemaLookup,
  shardOfInvocation,
  type Deployment,
  type Hashes,
  type InvocationId,
  type PartitionId,
  type PartitionRequest,
  type ServiceSchema,
  type ServiceType,
} from '@engine/domain';
import { MemoryLogHistory, MemoryPartitionLog } from '@engine/log';
import { seededRandom, type Random } from '@engine/runtime';
import { MemoryKvStore, type PartitionPlace } from '@engine/storage';
import type { PartitionPeer } from '@engine/wire';

import { workerOptions, type WorkerSettings } from '../config-shape.js';
import { Worker } from '../service.js';
import { writeTo } from './memory-replicas.js';
import { Asked, RequestMaker } from './request-maker.js';
import { ScriptedDeployment } from './scripted-deployment.js';
import { VirtualTime } from './virtual-time.js';

export const DEPLOYMENT_ID = deploymentIdFromUlid(new Uint8Array(16).fill(7));

/** Of the deployment that `upgraded` adds. */
export const NEXT_DEPLOYMENT_ID = deploymentIdFromUlid(new Uint8Array(16).fill(8));

const HANDLER_DEFAULTS = {
  inactivityTimeoutMs: 60_000,
  abortTimeoutMs: 600_000,
  journalRetentionMs: 86_400_000,
  idempotencyRetentionMs: 86_400_000,
  workflowCompletionRetentionMs: 86_400_000,
  retryPolicy: DEFAULT_RETRY_POLICY,
};

export function service(
  name: string,
  type: ServiceType,
  handlers: readonly string[],
): ServiceSchema {
  const handlerType =
    type === 'service' ? undefined : type === 'workflow' ? 'workflow' : 'exclusive';
  return {
    name,
    type,
    revision: 1,
    ingressPrivate: false,
    documentation: undefined,
    metadata: {},
    options: {},
    handlers: handlers.map((handler) => ({
      name: handler,
      type: handlerType,
      input: undefined,
      output: undefined,
      ingressPrivate: undefined,
      documentation: undefined,
      metadata: {},
      options: {},
    })),
  };
}

export function deployment(services: readonly ServiceSchema[]): Deployment {
  return {
    id: DEPLOYMENT_ID,
    endpoint: { kind: 'http', uri: 'http://deployment:9080/', httpVersion: 'HTTP/2.0' },
    protocolMode: 'bidi-stream',
    additionalHeaders: {},
    metadata: {},
    createdAt: 0,
    minProtocolVersion: 5,
    maxProtocolVersion: 6,
    sdkVersion: undefined,
    services,
  };
}

export function schemaOf(...services: readonly ServiceSchema[]): SchemaLookup {
  return new SchemaLookup({ deployments: [deployment(services)] }, HANDLER_DEFAULTS);
}

/** Like `schemaOf`, with a deployment that speaks protocol 7: its handlers say what they await. */
export function schemaWithHints(...services: readonly ServiceSchema[]): SchemaLookup {
  const newest = { ...deployment(services), maxProtocolVersion: 7 };
  return new SchemaLookup({ deployments: [newest] }, HANDLER_DEFAULTS);
}

/** A second deployment of the same service with the next revision. `versions`: protocol versions that it speaks. */
export function upgraded(
  serviceSchema: ServiceSchema,
  versions: { readonly min: number; readonly max: number } = { min: 5, max: 6 },
): SchemaLookup {
  const next: Deployment = {
    ...deployment([{ ...serviceSchema, revision: 2 }]),
    id: NEXT_DEPLOYMENT_ID,
    minProtocolVersion: versions.min,
    maxProtocolVersion: versions.max,
  };
  return new SchemaLookup({ deployments: [deployment([serviceSchema]), next] }, HANDLER_DEFAULTS);
}

/** What outlives a crash: stores and logs of the partitions. */
export class Machine {
  readonly #homes = new Map<PartitionId, { store: MemoryKvStore; history: MemoryLogHistory }>();
  /** Called when a record of a partition is durable, before the worker learns of it. */
  onDurable: (partition: PartitionId, sequence: bigint) => void = () => undefined;

  open(id: PartitionId) {
    let home = this.#homes.get(id);
    if (home === undefined) {
      home = { store: new MemoryKvStore(), history: new MemoryLogHistory() };
      this.#homes.set(id, home);
    }
    const { store, history } = home;
    const place: PartitionPlace = { partition: id, generation: 0 };
    const log = new MemoryPartitionLog({
      history,
      apply: async (record) => {
        await writeTo(store, place, record.mutations);
        this.onDurable(id, record.sequence);
      },
    });
    return { place, store, log };
  }
}

export interface TestWorldOptions {
  readonly schema: SchemaLookup;
  readonly settings?: Partial<WorkerSettings>;
  readonly peer?: (worker: () => Worker) => PartitionPeer;
  readonly seed?: number;
}

export class TestWorld {
  readonly time = new VirtualTime();
  readonly machine = new Machine();
  readonly deployment = new ScriptedDeployment(this.time);
  readonly fatal: unknown[] = [];
  schema: SchemaLookup;
  worker: Worker;
  readonly #options: TestWorldOptions;
  readonly #hashes: Hashes;
  readonly #random: Random;
  readonly #maker: RequestMaker;

  private constructor(options: TestWorldOptions, hashes: Hashes) {
    this.#options = options;
    this.#hashes = hashes;
    this.#random = seededRandom(options.seed ?? 1);
    this.schema = options.schema;
    this.#maker = new RequestMaker({
      schema: () => this.schema,
      hashes,
      random: this.#random,
      clock: this.time,
    });
    this.worker = this.#makeWorker();
  }

  static async start(options: TestWorldOptions): Promise<TestWorld> {
    const world = new TestWorld(options, await loadHashes());
    await world.#startWorker();
    return world;
  }

  get partitionCount(): number {
    return this.#options.settings?.partitionCount ?? 1;
  }

  /** Kills the worker as it stands and starts another one from what is durable. */
  async restart(): Promise<void> {
    this.worker.kill();
    this.worker = this.#makeWorker();
    await this.#startWorker();
  }

  invoke(target: string, payload: string, awaits: 'submission' | 'result' = 'result'): Asked {
    const asked = this.#ask((requestId) => ({
      kind: 'invoke',
      requestId,
      invocation: this.invocation(target, payload),
      awaits,
    }));
    return asked;
  }

  send(make: (requestId: string) => PartitionRequest): Asked {
    return this.#ask(make);
  }

  /** An operation that needs nothing but the id of the invocation. */
  operate(kind: Operation, invocationId: InvocationId): Asked {
    return this.#ask((requestId) => ({ kind, requestId, invocationId }));
  }

  invocation(text: string, payload: string) {
    return this.#maker.invocation(text, payload);
  }

  partitionOf(id: InvocationId): number {
    return shardOfInvocation(id, this.partitionCount);
  }

  async row(id: InvocationId) {
    for await (const found of this.worker.scan({ ids: [id], limit: 1 })) return found;
    return undefined;
  }

  #ask(make: (requestId: string) => PartitionRequest): Asked {
    const asked = new Asked(make(this.#maker.nextId()));
    const { request } = asked;
    this.worker.send(request, (answer) => {
      asked.answers.push(answer);
    });
    return asked;
  }

  #makeWorker(): Worker {
    const settings = { partitionCount: 1, clusterName: 'test', ...this.#options.settings };
    const peer = this.#options.peer?.(() => this.worker);
    return new Worker(workerOptions(settings), {
      clock: this.time,
      scheduler: this.time,
      random: this.#random,
      hashes: this.#hashes,
      schema: () => this.schema,
      transport: this.deployment,
      openPartition: (id) => Promise.resolve(this.machine.open(id)),
      ...(peer === undefined ? {} : { peer }),
      onFatal: (error) => {
        this.fatal.push(error);
      },
    });
  }

  async #startWorker(): Promise<void> {
    const started = this.worker.start();
    await this.time.settle();
    await started;
    await this.time.settle();
  }
}

type Operation = 'cancel' | 'kill' | 'pause' | 'purge' | 'purge-journal';
