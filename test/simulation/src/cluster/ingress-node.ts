/** An ingress process: the router that ships, its directory from the documents, and streams to the workers. */

import type { Hashes, PartitionAnswer, PartitionRequest } from '@engine/domain';
import { ClusterView, TableDirectory } from '@engine/membership';
import { PartitionRouter } from '@engine/rpc';
import type { SentRequest } from '@engine/wire';

import type { ServerProcess } from '../simulator/process.js';
import type { Withdraw } from '../workloads/client.js';
import type { SimDocuments } from './documents.js';
import type { Links } from './links.js';
import { SimNode, type NodeSurroundings } from './sim-node.js';
import type { WorkerStation } from './way.js';
import { SimWorkerLinks } from './worker-links.js';

export interface IngressSurroundings extends NodeSurroundings {
  readonly links: Links;
  readonly documents: SimDocuments;
  readonly hashes: Hashes;
  readonly partitionCount: number;
  readonly leaderWaitMs: number;
  readonly worker: (address: string) => WorkerStation | undefined;
  readonly messageFaults: { readonly loss: number; readonly repetition: number };
}

interface Running {
  readonly process: ServerProcess;
  readonly router: PartitionRouter;
  /** Callers that wait for an answer of this process: told when it dies. */
  readonly waiting: Set<() => void>;
}

export class IngressNode extends SimNode {
  readonly #cluster: IngressSurroundings;
  #running: Running | undefined;

  constructor(id: string, surroundings: IngressSurroundings) {
    super(id, surroundings);
    this.#cluster = surroundings;
  }

  get isReady(): boolean {
    return this.#running !== undefined;
  }

  /** A caller asks. Undefined when nobody is there to take it; `lost` tells that the process is gone. */
  send(
    request: PartitionRequest,
    respond: (answer: PartitionAnswer) => void,
    lost: () => void,
  ): Withdraw | undefined {
    const running = this.#running;
    if (running === undefined) return undefined;
    const { process, router, waiting } = running;
    waiting.add(lost);
    let sent: SentRequest | undefined;
    const take = process.guarded(() => {
      sent = router.send(request, (answer) => {
        if (!process.stepOutward()) return;
        waiting.delete(lost);
        respond(answer);
      });
    });
    take();
    return () => {
      waiting.delete(lost);
      const withdraw = process.guarded(() => sent?.withdraw());
      withdraw();
    };
  }

  protected override async run(process: ServerProcess): Promise<void> {
    const { loop, chance, links, documents, hashes, partitionCount, leaderWaitMs } = this.#cluster;
    const { worker, messageFaults } = this.#cluster;
    const { clock, scheduler, random } = process;
    const store = documents.storeFor({ id: this.id, process });
    const view = new ClusterView({ store, scheduler });
    await view.start();
    const directory = new TableDirectory(view, partitionCount);
    const router = new PartitionRouter(
      { leaderWaitMs },
      {
        directory,
        links: new SimWorkerLinks({
          loop,
          chance: chance.branch(`links of ${process.name}`),
          links,
          from: this,
          process,
          worker,
          messageFaults,
        }),
        hashes,
        clock,
        scheduler,
        random,
      },
    );
    await router.start();
    if (process.isAlive) this.#running = { process, router, waiting: new Set() };
  }

  protected override died(): void {
    const waiting = this.#running?.waiting ?? [];
    this.#running = undefined;
    for (const tell of waiting) tell();
  }
}
