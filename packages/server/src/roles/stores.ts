/** What the embedded engine keeps on disk: the cluster's documents, and the partitions with their log. */

import { toPartitionId, type PartitionId } from '@engine/domain';
import { provisionCluster, SchemaRegistry } from '@engine/metadata';
import {
  EmbeddedLog,
  LevelKvStore,
  LevelMetadataStore,
  METADATA_STORE,
  PARTITION_STORE,
} from '@engine/storage-leveldb';
import { createLogger } from '@engine/telemetry';
import type { PartitionHome } from '@engine/worker';

import { directoriesOf, type ServerConfig } from '../config/config.js';
import { handlerDefaults } from './settings.js';

const log = createLogger('server:stores');

/** Generation of the rows of a partition; only a restore makes another one. */
const GENERATION = 0;

export interface Stores {
  readonly schemas: SchemaRegistry;
  /** Fixed by the first start on these data. */
  readonly partitionCount: number;
  readonly openPartition: (id: PartitionId) => Promise<PartitionHome>;
}

/**
 * Opens, or makes, everything on disk; what is opened is closed by `parts`.
 *
 * Throws EngineError RT0005 when another process has the directories open, the format codes when they hold something else.
 */
export async function openStores(
  config: ServerConfig,
  parts: AsyncDisposableStack,
  onFatal: (error: unknown) => void,
): Promise<Stores> {
  const directories = directoriesOf(config);
  const documents = await open(parts, { directory: directories.meta, kind: METADATA_STORE });
  const metadata = new LevelMetadataStore(documents);
  const { partitionCount } = await provisionCluster(metadata, {
    name: config.clusterName,
    partitionCount: config.defaultNumPartitions,
  });
  const schemas = parts.use(
    await SchemaRegistry.open(handlerDefaults(config), {
      store: metadata,
      onUnreadable: (error) => {
        log.error({ err: error }, 'a newer schema cannot be read; the last one stays in force');
      },
    }),
  );
  const store = await open(parts, { directory: directories.storage, kind: PARTITION_STORE });
  const places = Array.from({ length: partitionCount }, (_, id) => ({
    partition: toPartitionId(id),
    generation: GENERATION,
  }));
  const records = await EmbeddedLog.open({ places }, { store, onFatal });
  parts.defer(() => records.close());
  return {
    schemas,
    partitionCount,
    openPartition: (id) =>
      Promise.resolve({
        place: { partition: id, generation: GENERATION },
        store,
        log: records.partition(id),
      }),
  };
}

async function open(
  parts: AsyncDisposableStack,
  options: Parameters<typeof LevelKvStore.open>[0],
): Promise<LevelKvStore> {
  const store = await LevelKvStore.open(options);
  parts.defer(() => store.close());
  return store;
}
