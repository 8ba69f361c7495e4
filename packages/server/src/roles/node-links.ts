/** The ways of this process to the workers of its cluster, and who it says it is on them. */

import { EngineError, type Hashes, type NodeId } from '@engine/domain';
import type { TableDirectory } from '@engine/membership';
import {
  channelCredentials,
  Dialer,
  NodeLinks,
  PartitionRouter,
  ROLE_PROTOCOL,
  RoutedScans,
  RPC_MESSAGE_BYTES_MAX,
  TlsFiles,
  WorkerLinks,
  type Introduction,
  type LocalWorker,
  type TlsOptions,
} from '@engine/rpc';
import type { InvocationScan, JournalScan, PartitionChannel, StateScan } from '@engine/wire';

import type { ServerConfig } from '../config/config.js';
import { clusterSystem } from './cluster-clock.js';
import { STORE_FORMATS } from './formats.js';
import { startPart } from './system.js';

export interface Links {
  readonly introduction: Introduction;
  readonly messageBytesMax: number;
  readonly tls: TlsOptions | undefined;
  readonly workers: WorkerLinks;
  readonly nodes: NodeLinks;
}

/** Opens nothing yet; what is opened later is closed by `parts`. Throws EngineError RT0002 when a TLS file cannot be read. */
export function makeLinks(config: ServerConfig, node: NodeId, parts: AsyncDisposableStack): Links {
  const introduction = {
    clusterName: config.clusterName,
    nodeId: node,
    protocol: ROLE_PROTOCOL,
    storeFormat: STORE_FORMATS,
  };
  const messageBytesMax = config.networking.messageSizeLimit ?? RPC_MESSAGE_BYTES_MAX;
  const tls = tlsOptions(config);
  const files = tls === undefined ? undefined : new TlsFiles(tls, clusterSystem.clock);
  const dialer = new Dialer({ messageBytesMax }, channelCredentials(files));
  const dependencies = { dialer, introduction, ...clusterSystem };
  const workers = new WorkerLinks({ messageBytesMax }, dependencies);
  const nodes = new NodeLinks(dependencies);
  parts.defer(() => {
    workers.stop();
    nodes.stop();
  });
  return { introduction, messageBytesMax, tls, workers, nodes };
}

/** How ingress and admin ask partitions, wherever they are led. */
export interface Routes {
  readonly channel: PartitionChannel;
  readonly scans: InvocationScan & JournalScan & StateScan;
}

export interface RouteDependencies {
  readonly directory: TableDirectory;
  readonly links: Links;
  readonly hashes: Hashes;
  /** Undefined: this process hosts no partitions. */
  readonly local: LocalWorker<PartitionChannel & Routes['scans']> | undefined;
}

export async function startRoutes(
  config: ServerConfig,
  { directory, links, hashes, local }: RouteDependencies,
  parts: AsyncDisposableStack,
): Promise<Routes> {
  const options = { leaderWaitMs: config.ingress.leaderWait };
  const dependencies = { directory, links: links.workers, local, hashes, ...clusterSystem };
  const channel = await startPart(parts, new PartitionRouter(options, dependencies));
  return { channel, scans: new RoutedScans(options, dependencies) };
}

function tlsOptions({ tls }: ServerConfig): TlsOptions | undefined {
  const { mode, certFile, keyFile, caFiles, requireClientAuth } = tls;
  if (mode === 'off') return undefined;
  if (certFile === undefined || keyFile === undefined) {
    throw new EngineError(
      'RT0002',
      `tls.mode is ${mode}: tls.cert-file and tls.key-file are needed`,
    );
  }
  const { allowedSubjectNames } = tls;
  if (requireClientAuth && allowedSubjectNames.length === 0) {
    const reason = 'tls.require-client-auth is true: tls.allowed-subject-names is needed';
    throw new EngineError('RT0002', reason);
  }
  return {
    mode,
    certFile,
    keyFile,
    caFiles,
    requireClientAuth,
    refreshIntervalMs: tls.refreshInterval,
    allowedSubjectNames,
  };
}
