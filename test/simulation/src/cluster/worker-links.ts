/**
 * The ways of one process to the workers: twin of `WorkerLinks` of packages/rpc over simulated streams. Requests that have no answer
 * when their stream breaks are answered `disconnected`; messages on it are lost.
 */

import type { PartitionAnswer, PartitionRequest } from '@engine/domain';
import type { ChannelLinks, PeerLinks } from '@engine/rpc';
import type {
  MessageAck,
  MessageBatch,
  PartitionChannel,
  PartitionPeer,
  SentRequest,
} from '@engine/wire';

import type { ServerProcess } from '../simulator/process.js';
import type { SimStream } from './sim-stream.js';
import { Way, type WayDependencies, type WorkerDoor } from './way.js';

const DISCONNECTED: PartitionAnswer = { kind: 'unavailable', reason: 'disconnected' };

class SimChannel extends Way implements PartitionChannel {
  readonly #onOpen: () => void;
  readonly #waiting = new Map<string, (answer: PartitionAnswer) => void>();

  constructor(address: string, onOpen: () => void, dependencies: WayDependencies) {
    super(address, dependencies);
    this.#onOpen = onOpen;
  }

  send(request: PartitionRequest, respond: (answer: PartitionAnswer) => void): SentRequest {
    const { process } = this.dependencies;
    const { requestId } = request;
    if (this.stream === undefined) {
      process.scheduler.immediate(() => {
        respond(DISCONNECTED);
      });
      return { withdraw: () => undefined };
    }
    this.#waiting.set(requestId, respond);
    this.stream.send(process, () => {
      this.#serve(request);
    });
    return {
      withdraw: () => {
        if (this.#waiting.get(requestId) === respond) this.#waiting.delete(requestId);
      },
    };
  }

  #serve: (request: PartitionRequest) => void = () => undefined;

  protected accept(door: WorkerDoor, server: ServerProcess, stream: SimStream): void {
    const unanswered = new Map<string, SentRequest>();
    this.#serve = (request) => {
      const sent = door.channel.send(request, (answer) => {
        if (unanswered.get(request.requestId) !== sent) return;
        unanswered.delete(request.requestId);
        stream.send(server, () => {
          this.#answered(request.requestId, answer);
        });
      });
      unanswered.set(request.requestId, sent);
    };
    stream.onBroken(server, () => {
      for (const sent of unanswered.values()) sent.withdraw();
    });
  }

  protected opened(): void {
    this.#onOpen();
  }

  protected lost(): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const respond of waiting) respond(DISCONNECTED);
  }

  #answered(requestId: string, answer: PartitionAnswer): void {
    const respond = this.#waiting.get(requestId);
    this.#waiting.delete(requestId);
    respond?.(answer);
  }
}

class SimPeer extends Way {
  readonly #acknowledge: (ack: MessageAck) => void;
  #receive: (batch: MessageBatch) => void = () => undefined;

  constructor(
    address: string,
    acknowledge: (ack: MessageAck) => void,
    dependencies: WayDependencies,
  ) {
    super(address, dependencies);
    this.#acknowledge = acknowledge;
  }

  deliver(batch: MessageBatch): void {
    const { process, chance, messageFaults } = this.dependencies;
    const copies = chance.happens(messageFaults.repetition) ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      if (chance.happens(messageFaults.loss)) continue;
      this.stream?.send(process, () => {
        this.#receive(batch);
      });
    }
  }

  protected accept(door: WorkerDoor, server: ServerProcess, stream: SimStream): void {
    const answer = (ack: MessageAck): void => {
      stream.send(server, () => {
        this.#acknowledge(ack);
      });
    };
    this.#receive = (batch) => {
      door.deliver(batch, answer);
    };
    stream.onBroken(server, () => {
      door.forget(answer);
    });
  }

  protected opened(): void {
    // What was not acknowledged is sent again by its partition.
  }

  protected lost(): void {
    // As above.
  }
}

export class SimWorkerLinks implements ChannelLinks, PeerLinks {
  readonly #dependencies: WayDependencies;
  readonly #channels = new Map<string, SimChannel>();
  readonly #peers = new Map<string, SimPeer>();
  readonly #onOpen = new Set<() => void>();
  #acknowledge: (ack: MessageAck) => void = () => undefined;

  constructor(dependencies: WayDependencies) {
    this.#dependencies = dependencies;
  }

  channel(address: string): SimChannel {
    const opened = (): void => {
      for (const onOpen of [...this.#onOpen]) onOpen();
    };
    return kept(this.#channels, address, () => {
      return new SimChannel(address, opened, this.#dependencies);
    });
  }

  peer(address: string): Pick<PartitionPeer, 'deliver'> {
    return kept(this.#peers, address, () => {
      const acknowledge = (ack: MessageAck): void => {
        this.#acknowledge(ack);
      };
      return new SimPeer(address, acknowledge, this.#dependencies);
    });
  }

  watch(onOpen: () => void): { cancel(): void } {
    this.#onOpen.add(onOpen);
    return { cancel: () => this.#onOpen.delete(onOpen) };
  }

  onAcknowledge(acknowledge: (ack: MessageAck) => void): void {
    this.#acknowledge = acknowledge;
  }

  keep(addresses: ReadonlySet<string>): void {
    for (const ways of [this.#channels, this.#peers]) {
      for (const [address, way] of [...ways]) {
        if (addresses.has(address)) continue;
        ways.delete(address);
        way.stop();
      }
    }
  }
}

function kept<Kind>(ways: Map<string, Kind>, address: string, make: () => Kind): Kind {
  let way = ways.get(address);
  if (way === undefined) {
    way = make();
    ways.set(address, way);
  }
  return way;
}
