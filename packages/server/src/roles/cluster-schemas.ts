/**
 * The schema of a cluster, as its admin changes it. Whoever registered a deployment may call it at once, through any ingress and on any
 * worker: a change is answered when every node that lives goes by it.
 */

import type { Schema, SchemaLookup } from '@engine/domain';
import type { SchemaRegistry } from '@engine/metadata';
import type { SchemaFollower } from '@engine/wire';
import { createLogger } from '@engine/telemetry';

const log = createLogger('server:cluster');

export interface ClusterSchemasDependencies {
  readonly registry: SchemaRegistry;
  /** The nodes that live, but for this one, by name. */
  readonly followers: () => ReadonlyMap<string, SchemaFollower>;
}

export class ClusterSchemas {
  readonly #registry: SchemaRegistry;
  readonly #followers: () => ReadonlyMap<string, SchemaFollower>;

  constructor({ registry, followers }: ClusterSchemasDependencies) {
    this.#registry = registry;
    this.#followers = followers;
  }

  get current(): SchemaLookup {
    return this.#registry.current;
  }

  /**
   * As `SchemaRegistry.update`. A node that does not answer within the limit of a call hears of the change by its watch, and holds
   * nobody up any longer.
   */
  async update(change: (schema: Schema) => Schema): Promise<SchemaLookup> {
    const lookup = await this.#registry.update(change);
    const { version } = this.#registry;
    const asked = Array.from(this.#followers(), async ([node, follower]) => {
      try {
        await follower.reachSchema(version);
      } catch (error) {
        log.warn({ node, err: error }, 'a node has not confirmed the newest schema');
      }
    });
    await Promise.all(asked);
    return lookup;
  }
}
