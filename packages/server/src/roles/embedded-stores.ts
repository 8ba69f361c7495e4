/** What the embedded engine keeps on disk: the cluster's documents, and the partitions with their log. */

import { EngineError, toPartitionId, type PartitionId } from '@engine/domain';
import { provisionCluster, SchemaRegistry, type MetadataStore } from '@engine/metadata';
import {
  checkDirectory,
  EmbeddedLog,
  LevelKvStore,
  METADATA_STORE,
  openMetadata,
  PARTITION_STORE,
} from '@engine/storage-leveldb';
import { createLogger } from '@engine/telemetry';
import type { PartitionHome } from '@engine/worker';

import { directoriesOf, type ServerConfig } from '../config/config.js';
import { handlerDefaults } from './settings.js';

const log = createLogger('server:stores');

/** One log serves all partitions of a process, so more of them would only make smaller records. */
const PARTITIONS_EMBEDDED = 1;

/** Generation of the rows of a partition; only a restore makes another one. */
const GENERATION = 0;

export interface Stores {
  readonly metadata: MetadataStore;
  readonly schemas: SchemaRegistry;
  /** Fixed by the first start on these data. */
  readonly partitionCount: number;
  readonly openPartition: (id: PartitionId) => Promise<PartitionHome>;
}

/**
 * Opens, or makes, everything on disk; what is opened is closed by `parts`.
 *
 * Throws EngineError RT0005 when another process has the directories open, the format codes when they hold something else, META0005
 * when documents are damaged.
 */
export async function openStores(
  config: ServerConfig,
  parts: AsyncDisposableStack,
  onFatal: (error: unknown) => void,
): Promise<Stores> {
  const directories = directoriesOf(config);
  requireTwo(directories);
  // Both, before anything is written to one.
  await checkDirectory(directories.meta, METADATA_STORE);
  await checkDirectory(directories.storage, PARTITION_STORE);
  const { metadata, close } = await openMetadata(directories.meta);
  parts.defer(close);
  const { partitionCount } = await provisionCluster(metadata, {
    name: config.clusterName,
    partitionCount: config.defaultNumPartitions ?? PARTITIONS_EMBEDDED,
  });
  const schemas = parts.use(
    await SchemaRegistry.open(handlerDefaults(config), {
      store: metadata,
      onUnreadable: (error) => {
        log.error({ err: error }, 'a newer schema cannot be read; the last one stays in force');
      },
    }),
  );
  const store = await LevelKvStore.open({
    directory: directories.storage,
    kind: PARTITION_STORE,
  });
  parts.defer(() => store.close());
  const places = Array.from({ length: partitionCount }, (_, id) => ({
    partition: toPartitionId(id),
    generation: GENERATION,
  }));
  const records = await EmbeddedLog.open({ places }, { store, onFatal });
  parts.defer(() => records.close());
  return {
    metadata,
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

function requireTwo({ meta, storage }: ReturnType<typeof directoriesOf>): void {
  if (meta !== storage) return;
  throw new EngineError(
    'RT0002',
    `meta.storage-path and worker.storage-rocksdb.path are the same directory: ${meta}`,
  );
}
