/** What a process of a cluster has from NATS: one connection, and on it the logs of partitions and the documents of the cluster. */

import type { Checksum } from '@engine/log';
import type { Clock, Scheduler } from '@engine/runtime';
import {
  jetstream,
  jetstreamManager,
  type JetStreamClient,
  type JetStreamManager,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';

import { connectNats, type NatsOptions } from './connection.js';
import { BatchReads } from './log/batch-reads.js';
import { JetStreamLogStream } from './log/jetstream-log-stream.js';
import { Publisher } from './log/publisher.js';
import type { ReplicaCount } from './log/stream-config.js';
import { StreamLog } from './log/stream-log.js';
import { KvMetadataStore, type KvMetadataOptions } from './metadata/kv-metadata-store.js';
import { JetStreamObjectStore, type ObjectStoreOptions } from './objects/jetstream-object-store.js';
import { ReplyInbox } from './reply-inbox.js';
import type { LogIdentity } from './subjects.js';

/** A request to the servers that is not answered after so long has failed. */
const REQUEST_TIMEOUT_MS = 2_000;

export interface NatsDependencies {
  readonly clock: Clock;
  readonly scheduler: Scheduler;
}

export interface LogOptions {
  readonly identity: LogIdentity;
  readonly replicas: ReplicaCount;
  readonly checksum: Checksum;
  /** A store that is ahead of the log is reported only if it still is after so long; 10 s. */
  readonly aheadConfirmMs?: number;
}

export class Nats implements AsyncDisposable {
  readonly connection: NatsConnection;
  readonly #client: JetStreamClient;
  readonly #manager: JetStreamManager;
  readonly #inbox: ReplyInbox;
  readonly #publisher: Publisher;
  readonly #reads: BatchReads;
  readonly #dependencies: NatsDependencies;
  readonly #stores: KvMetadataStore[] = [];

  private constructor(
    connection: NatsConnection,
    manager: JetStreamManager,
    dependencies: NatsDependencies,
  ) {
    this.connection = connection;
    this.#client = jetstream(connection, { timeout: REQUEST_TIMEOUT_MS });
    this.#manager = manager;
    const { scheduler } = dependencies;
    this.#inbox = new ReplyInbox(connection);
    this.#publisher = new Publisher({ connection, inbox: this.#inbox, scheduler });
    this.#reads = new BatchReads({ connection, inbox: this.#inbox, scheduler });
    this.#dependencies = dependencies;
  }

  /** Connects. Throws as `connectNats` does. */
  static async connect(options: NatsOptions, dependencies: NatsDependencies): Promise<Nats> {
    const connection = await connectNats(options);
    // Asking for the account now would make a start during an election fail.
    const manager = await jetstreamManager(connection, {
      timeout: REQUEST_TIMEOUT_MS,
      checkAPI: false,
    });
    return new Nats(connection, manager, dependencies);
  }

  /** The log of a partition; its stream is made where there is none. Throws as `JetStreamLogStream.open` does. */
  async openLog({ identity, replicas, checksum, aheadConfirmMs }: LogOptions): Promise<StreamLog> {
    const { clock, scheduler } = this.#dependencies;
    const stream = await JetStreamLogStream.open(
      { identity, replicas },
      {
        manager: this.#manager,
        inbox: this.#inbox,
        publisher: this.#publisher,
        reads: this.#reads,
        clock,
        scheduler,
        messageBytesMax: this.connection.info?.max_payload ?? 0,
      },
    );
    return new StreamLog({ identity, aheadConfirmMs }, { stream, checksum, clock, scheduler });
  }

  /** The documents of a cluster; their bucket is made where there is none. Throws as `KvMetadataStore.open` does. */
  async openMetadata(options: KvMetadataOptions): Promise<KvMetadataStore> {
    const dependencies = {
      ...this.#dependencies,
      connection: this.connection,
      manager: this.#manager,
    };
    const store = await KvMetadataStore.open(options, dependencies);
    this.#stores.push(store);
    return store;
  }

  /** The objects of a cluster; their bucket is made where there is none. Throws as `JetStreamObjectStore.open` does. */
  openObjects(options: ObjectStoreOptions): Promise<JetStreamObjectStore> {
    const dependencies = { ...this.#dependencies, client: this.#client, manager: this.#manager };
    return JetStreamObjectStore.open(options, dependencies);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const store of this.#stores) store.close();
    this.#inbox.close();
    await this.connection.close();
  }
}
