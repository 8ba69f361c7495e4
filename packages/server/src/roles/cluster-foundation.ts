/** What every node of a cluster leans on, whatever its roles: documents, the view of the others, and the ways to them. */

import { loadHashes, type Hashes, type NodeId } from '@engine/domain';
import { ClusterView, MemberPeers, TableDirectory } from '@engine/membership';

import type { ServerConfig } from '../config/config.js';
import { clusterSystem, makeClockKeeper } from './cluster-clock.js';
import { openClusterDocuments, type ClusterDocuments } from './cluster-documents.js';
import { openDeploymentAccess, type DeploymentAccess } from './deployment-access.js';
import { makeLinks, type Links } from './node-links.js';
import { patiently } from './patience.js';
import { startPart } from './system.js';

export interface ClusterFoundation {
  readonly self: NodeId;
  readonly hashes: Hashes;
  readonly documents: ClusterDocuments;
  readonly view: ClusterView;
  readonly directory: TableDirectory;
  readonly links: Links;
  readonly peers: MemberPeers;
  readonly access: DeploymentAccess;
}

/** Errors as of `openClusterDocuments` and `makeLinks`. What is opened is closed by `parts`. */
export async function openFoundation(
  config: ServerConfig,
  self: NodeId,
  parts: AsyncDisposableStack,
): Promise<ClusterFoundation> {
  const hashes = await loadHashes();
  const documents = await openClusterDocuments(config, hashes, parts);
  const { metadata, cluster, serverTime } = documents;
  await startPart(parts, makeClockKeeper(serverTime));
  const { scheduler } = clusterSystem;
  const made = new ClusterView({ store: metadata, scheduler });
  const view = await patiently('nodes', () => startPart(parts, made));
  const directory = parts.use(new TableDirectory(view, cluster.partitionCount));
  const links = makeLinks(config, self, parts);
  view.onNodes((nodes) => {
    links.nodes.keep(new Set(nodes.map(({ addresses }) => addresses.internal)));
  });
  const peers = new MemberPeers({ self }, { view, controlAt: links.nodes.control });
  const access = openDeploymentAccess(config, parts);
  return { self, hashes, documents, view, directory, links, peers, access };
}
