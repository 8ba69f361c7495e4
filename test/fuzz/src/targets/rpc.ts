/**
 * The port between nodes over real sockets: raw bytes against a listening RpcServer with both services. Whatever is sent, the process
 * lives and answers a sane call, and a client that hangs up leaves no connection and no request behind.
 */

import { connect } from 'node:net';

import { toPartitionId, type PartitionAnswer, type PartitionRequest } from '@engine/domain';
import {
  AckReturn,
  channelCredentials,
  Dialer,
  RemoteNode,
  RpcServer,
  type Introduction,
} from '@engine/rpc';
import { systemClock, systemScheduler } from '@engine/runtime';
import { assert } from '@engine/stdx';
import type {
  AppliedPosition,
  NodeControl,
  PartitionChannel,
  PartitionPeer,
  SentRequest,
} from '@engine/wire';
import {
  arbitraryAnswer,
  arbitraryJournalSnapshot,
  arbitraryReports,
  arbitrarySnapshot,
  arbitraryStateSnapshot,
} from '@engine/wire/contract';

import type { Chance } from '../chance.js';
import { samplesOf } from '../corpora.js';
import { splitBytes } from '../handler-frames.js';
import { mutateBytes } from '../mutate.js';
import type { FuzzCase, OpenTarget, Target } from '../target.js';
import { rpcConnection, rpcMethods } from './rpc-connections.js';

/** A connection that is still open so long after its client has hung up is a finding. */
const CONNECTION_MS_MAX = 5_000;
/** Turns of the event loop until the server has seen that a connection is closed. */
const TURNS_MAX = 10_000;
const MESSAGE_BYTES_MAX = 100_000;
/** A sane call is made after so many inputs on average; it costs as much as an input. */
const CALL_SHARE = 0.05;

const system = { clock: systemClock, scheduler: systemScheduler };

function introductionOf(nodeId: string): Introduction {
  const versions = { min: 1, max: 1 };
  return { clusterName: 'fuzz', nodeId, protocol: versions, storeFormat: versions };
}

export const rpc: Target = {
  name: 'rpc',
  open: async () => {
    const worker = new AnyWorker();
    const server = new RpcServer(
      {
        host: '127.0.0.1',
        port: 0,
        introduction: introductionOf('worker'),
        messageBytesMax: MESSAGE_BYTES_MAX,
        tls: undefined,
      },
      {
        worker: { channel: worker, peer: worker, scans: worker, acks: new AckReturn() },
        node: worker,
        ...system,
      },
    );
    await server.start();
    const dialer = new Dialer(
      { messageBytesMax: MESSAGE_BYTES_MAX },
      channelCredentials(undefined),
    );
    const introduction = introductionOf('sane');
    const address = `127.0.0.1:${String(server.port)}`;
    const sane = new RemoteNode(address, { dialer, introduction, ...system });
    await sane.reports();
    return new OpenRpc({ server, worker, sane });
  },
};

interface World {
  readonly server: RpcServer;
  readonly worker: AnyWorker;
  readonly sane: RemoteNode;
}

class OpenRpc implements OpenTarget {
  readonly #world: World;
  readonly #methods = rpcMethods();
  #escaped: unknown;
  readonly #onEscape = (error: unknown): void => {
    this.#escaped = error;
  };

  constructor(world: World) {
    this.#world = world;
    process.on('uncaughtException', this.#onEscape);
    process.on('unhandledRejection', this.#onEscape);
  }

  next(chance: Chance): FuzzCase {
    const bytes = this.#bytesOf(chance);
    const pieces = splitBytes(chance, bytes);
    const isAsked = chance.yes(CALL_SHARE);
    const isLate = chance.yes(0.2);
    const { server, worker, sane } = this.#world;
    return {
      bytes,
      run: async () => {
        worker.isLate = isLate;
        await talk(server.port, pieces);
        await this.#settled();
        if (isAsked) await sane.applied(toPartitionId(1));
      },
    };
  }

  #bytesOf(chance: Chance): Uint8Array {
    if (chance.yes(0.03)) return chance.bytes(chance.length(200));
    const bytes = rpcConnection(chance, this.#methods);
    return chance.yes(0.3) ? mutateBytes(chance, bytes) : bytes;
  }

  /** Only the sane caller is still connected, nobody waits, and nothing escaped. */
  async #settled(): Promise<void> {
    const { server, worker } = this.#world;
    const isOver = (): boolean => server.connectionCount <= 1 && worker.waitingCount === 0;
    for (let turn = 0; turn < 3 || !isOver(); turn += 1) {
      assert(turn < TURNS_MAX, 'no connection or request is left when its client has hung up');
      await new Promise((resolve) => setImmediate(resolve));
    }
    const escaped = this.#escaped;
    this.#escaped = undefined;
    if (escaped !== undefined) throw new Error('an error escaped', { cause: escaped });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#world.sane.stop();
    await this.#world.server[Symbol.asyncDispose]();
    process.off('uncaughtException', this.#onEscape);
    process.off('unhandledRejection', this.#onEscape);
  }
}

/** Says all, then hangs up. Resolves when the connection is closed on both sides. */
function talk(port: number, pieces: readonly Uint8Array[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const deadline = setTimeout(() => {
      socket.destroy();
      reject(new Error('the connection is still open'));
    }, CONNECTION_MS_MAX);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(deadline);
      resolve();
    });
    socket.on('connect', () => {
      for (const piece of pieces) if (piece.length > 0) socket.write(piece);
      socket.end();
      socket.resume();
    });
  });
}

/** Answers with whatever comes next, at once or, when late, never. */
class AnyWorker implements PartitionChannel, Pick<PartitionPeer, 'deliver'>, NodeControl {
  readonly #answers = samplesOf(arbitraryAnswer);
  readonly #invocations = samplesOf(arbitrarySnapshot, 20);
  readonly #journals = samplesOf(arbitraryJournalSnapshot, 20);
  readonly #state = samplesOf(arbitraryStateSnapshot, 20);
  readonly #reports = samplesOf(arbitraryReports, 20);
  readonly #waiting = new Set<object>();
  #count = 0;
  isLate = false;

  /** Requests that have no answer, and were not withdrawn. */
  get waitingCount(): number {
    return this.#waiting.size;
  }

  send(_request: PartitionRequest, respond: (answer: PartitionAnswer) => void): SentRequest {
    const place = {};
    this.#waiting.add(place);
    const answer = this.#next(this.#answers);
    if (!this.isLate) {
      queueMicrotask(() => {
        if (this.#waiting.delete(place)) respond(answer);
      });
    }
    return { withdraw: () => this.#waiting.delete(place) };
  }

  deliver(): void {
    // Messages are dropped: the partition is led elsewhere.
  }

  async *scan() {
    yield* await Promise.resolve(this.#invocations);
  }

  async *scanJournal() {
    yield* await Promise.resolve(this.#journals);
  }

  async *scanState() {
    yield* await Promise.resolve(this.#state);
  }

  reports(): ReturnType<NodeControl['reports']> {
    return Promise.resolve(this.#next(this.#reports));
  }

  stopLeading(): Promise<void> {
    return Promise.resolve();
  }

  applied(): Promise<AppliedPosition | undefined> {
    return Promise.resolve({ sequence: 1n, chain: 2n });
  }

  #next<T>(list: readonly T[]): T {
    this.#count += 1;
    return list[this.#count % list.length] as T;
  }
}
