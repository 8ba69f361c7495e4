/** What the processes of a cluster lean on and reach over links: the network, documents, logs, an object store, and the faults of them. */

import type { PartitionId } from '@engine/domain';

import type { Plan } from '../plan.js';
import type { Chance } from '../simulator/chance.js';
import type { EventLoop } from '../simulator/event-loop.js';
import { CALM_CLUSTER, calmCluster, type ClusterShape } from './cluster-plan.js';
import { SimDocuments, type DocumentFaults } from './documents.js';
import { Links, type LinkFaults } from './links.js';
import { LogServers } from './log-servers.js';
import { SimSnapshots } from './snapshots.js';

/** Longest time of a request for a document, one way, ms. */
const DOCUMENT_MS_MAX = 60;

export class Surroundings {
  readonly shape: ClusterShape;
  readonly links: Links;
  readonly documents: SimDocuments;
  readonly servers: LogServers;
  readonly snapshots = new SimSnapshots();
  /** Share of messages between partitions that are dropped, and that come twice. */
  readonly messageFaults: { loss: number; repetition: number };
  readonly #linkFaults: LinkFaults;
  readonly #documentFaults: DocumentFaults;

  constructor(dependencies: {
    readonly plan: Plan;
    readonly chance: Chance;
    readonly loop: EventLoop;
  }) {
    const { plan, chance, loop } = dependencies;
    this.shape = { ...(plan.cluster ?? CALM_CLUSTER) };
    const { messageLoss, messageRepetition, documentAnswerLoss, payloadBytesMax } = this.shape;
    const { delayMs, delayMsMax } = plan.faults.network;
    this.messageFaults = { loss: messageLoss, repetition: messageRepetition };
    this.#linkFaults = { loss: messageLoss, delayMs, delayMsMax };
    this.#documentFaults = {
      answerLoss: documentAnswerLoss,
      delayMs: 2,
      delayMsMax: DOCUMENT_MS_MAX,
    };
    const room = (name: string): { loop: EventLoop; chance: Chance } => {
      return { loop, chance: chance.branch(name) };
    };
    this.links = new Links({ ...room('links'), faults: this.#linkFaults });
    const { links } = this;
    const documents = { ...room('documents'), faults: this.#documentFaults, links };
    this.documents = new SimDocuments(documents);
    this.servers = new LogServers(plan.partitions, { ...room('logs'), links, payloadBytesMax });
    this.#setLogFaults();
  }

  get partitions(): readonly PartitionId[] {
    return this.servers.partitions();
  }

  /** From now on a request for a document takes up to so long, ms; without a number, as ever. */
  slowDocuments(delayMsMax = DOCUMENT_MS_MAX): void {
    this.#documentFaults.delayMsMax = delayMsMax;
  }

  /** Everything works again. */
  mend(): void {
    calmCluster(this.shape);
    this.#linkFaults.loss = 0;
    this.#documentFaults.answerLoss = 0;
    Object.assign(this.messageFaults, { loss: 0, repetition: 0 });
    this.slowDocuments();
    this.#setLogFaults();
    this.links.mendAll();
    this.documents.isUp = true;
    this.servers.isUp = true;
    this.snapshots.isUp = true;
  }

  #setLogFaults(): void {
    const { lostAppend, lateAppend, lostAck, leaderChange } = this.shape;
    this.servers.faults = {
      lostRequest: lostAppend,
      lateRequest: lateAppend,
      lostAnswer: lostAck,
      leaderChange,
    };
  }
}
