/** How the stream of a log must be set up: it keeps everything until it is trimmed, on disk, under one name. */

import { DiscardPolicy, RetentionPolicy, StorageType, type StreamConfig } from '@nats-io/jetstream';

import { logStream, logSubject, type LogIdentity } from '../subjects.js';

/** Copies of each record: on one server, or on three. */
export type ReplicaCount = 1 | 3;

/** What a new stream is made with. */
export function wantedConfig(identity: LogIdentity, replicas: ReplicaCount): StreamConfigWanted {
  const { cluster, partition, incarnation } = identity;
  return {
    name: logStream(identity),
    subjects: [logSubject(identity)],
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    storage: StorageType.File,
    num_replicas: replicas,
    max_age: 0,
    max_bytes: -1,
    max_msgs: -1,
    max_msgs_per_subject: -1,
    max_msg_size: -1,
    deny_delete: true,
    deny_purge: false,
    // Followers read from any server of the stream.
    allow_direct: true,
    allow_rollup_hdrs: false,
    metadata: {
      'engine-cluster': cluster,
      'engine-partition': String(partition),
      'engine-incarnation': String(incarnation),
    },
  };
}

type StreamConfigWanted = Partial<StreamConfig> & Pick<StreamConfig, 'name'>;

/** What of a stream is not as it must be, one line each. More replicas than asked for are welcome. */
export function configProblems(found: StreamConfig, wanted: StreamConfigWanted): readonly string[] {
  const problems: string[] = [];
  const {
    metadata: wantedMetadata = {},
    num_replicas: replicas = 1,
    subjects = [],
    ...plain
  } = wanted;
  for (const [key, value] of Object.entries(plain)) {
    // What is off is left out by the server.
    const [has, wants] = [found[key as keyof StreamConfig] ?? false, value].map((it) =>
      JSON.stringify(it),
    );
    if (has !== wants) problems.push(`${key} is ${has ?? ''}, not ${wants ?? ''}`);
  }
  if (found.num_replicas < replicas) {
    problems.push(`num_replicas is ${String(found.num_replicas)}, not ${String(replicas)}`);
  }
  if (found.subjects.join() !== subjects.join())
    problems.push(`subjects are ${found.subjects.join()}`);
  for (const [key, value] of Object.entries(wantedMetadata)) {
    if (found.metadata?.[key] !== value)
      problems.push(`${key} is ${String(found.metadata?.[key])}`);
  }
  if (found.mirror !== undefined) problems.push('it is a mirror');
  if ((found.sources ?? []).length > 0) problems.push('it has sources');
  if (found.sealed) problems.push('it is sealed');
  if (found.no_ack === true) problems.push('it acknowledges nothing');
  if (found.persist_mode === 'async') problems.push('it acknowledges before it writes');
  return problems;
}
