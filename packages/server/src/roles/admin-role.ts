/** What an admin of a cluster has beside its listener: the controller, the operators' view, and changes of the schema that all nodes follow. */

import { ControllerDriver, DrivenCluster } from '@engine/admin';
import type { NodeId } from '@engine/domain';
import type { Member } from '@engine/membership';
import type { NodeControl, SchemaFollower } from '@engine/wire';

import type { ServerConfig } from '../config/config.js';
import { clusterSystem } from './cluster-clock.js';
import type { ClusterFoundation } from './cluster-foundation.js';
import { ClusterSchemas } from './cluster-schemas.js';

export interface AdminRole {
  /** To be started after the member. */
  readonly driver: ControllerDriver;
  readonly operations: DrivenCluster;
  readonly schemas: ClusterSchemas;
}

export interface AdminRoleDependencies {
  readonly foundation: ClusterFoundation;
  readonly member: Member;
  /** The way to a worker, this process included if it is one. */
  readonly control: (node: NodeId) => NodeControl | undefined;
}

export function makeAdminRole(
  config: ServerConfig,
  { foundation, member, control }: AdminRoleDependencies,
): AdminRole {
  const { documents, hashes, links } = foundation;
  const { metadata, cluster } = documents;
  const driver = new ControllerDriver(
    { cluster, leaseTtlMs: config.nodeLeaseTtl },
    { ...clusterSystem, store: metadata, member, control, hash: hashes.xxh3 },
  );
  const operations = new DrivenCluster(driver, metadata);
  const followers = (): ReadonlyMap<string, SchemaFollower> => {
    const { nodes } = operations.status();
    const others = nodes.filter(
      ({ node, liveness }) => node.id !== member.id && liveness === 'alive',
    );
    return new Map(
      others.map(({ node: { id, addresses } }) => [id, links.nodes.control(addresses.internal)]),
    );
  };
  const schemas = new ClusterSchemas({ registry: documents.schemas, followers });
  return { driver, operations, schemas };
}
