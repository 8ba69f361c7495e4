/** A worker's services on a port of this machine, and what is needed to reach them. */

import { seededRandom, systemClock, systemScheduler } from '@engine/runtime';

import {
  AckReturn,
  Dialer,
  RpcServer,
  type Introduction,
  type LinkDependencies,
} from '../src/index.js';
import { channelCredentials } from '../src/index.js';
import { RPC_MESSAGE_BYTES_MAX, TlsFiles, type TlsOptions } from '../src/index.js';
import type { ScriptedWorker } from './scripted-worker.js';

export const system = { clock: systemClock, scheduler: systemScheduler };

export function introductionOf(nodeId: string, more: Partial<Introduction> = {}): Introduction {
  const versions = { min: 1, max: 1 };
  return { clusterName: 'test', nodeId, protocol: versions, storeFormat: versions, ...more };
}

export interface NodeOptions {
  readonly introduction?: Introduction;
  readonly port?: number;
  readonly tls?: TlsOptions;
  readonly keepaliveMs?: number;
}

export class RpcNode {
  readonly acks: AckReturn;
  readonly server: RpcServer;

  constructor(worker: ScriptedWorker, options: NodeOptions = {}) {
    const { introduction = introductionOf('worker'), port = 0, tls, keepaliveMs } = options;
    this.acks = new AckReturn();
    this.server = new RpcServer(
      {
        host: '127.0.0.1',
        port,
        introduction,
        messageBytesMax: RPC_MESSAGE_BYTES_MAX,
        tls,
        keepaliveMs,
      },
      {
        worker: { channel: worker, peer: worker, scans: worker, acks: this.acks },
        node: worker.control,
        ...system,
      },
    );
  }

  static async start(worker: ScriptedWorker, options: NodeOptions = {}): Promise<RpcNode> {
    const node = new RpcNode(worker, options);
    await node.server.start();
    return node;
  }

  get address(): string {
    return addressOf(this.server.port);
  }
}

export function addressOf(port: number): string {
  return `127.0.0.1:${String(port)}`;
}

export interface CallerOptions {
  readonly introduction?: Introduction;
  readonly tls?: TlsOptions;
  readonly keepaliveMs?: number;
  readonly seed?: number;
}

/** What a client leans on. */
export function callerOf(options: CallerOptions = {}): LinkDependencies {
  const { introduction = introductionOf('ingress'), tls, keepaliveMs, seed = 1 } = options;
  const files = tls === undefined ? undefined : new TlsFiles(tls, systemClock);
  const limits = { messageBytesMax: RPC_MESSAGE_BYTES_MAX, keepaliveMs };
  const dialer = new Dialer(limits, channelCredentials(files));
  return { dialer, introduction, random: seededRandom(seed), ...system };
}
