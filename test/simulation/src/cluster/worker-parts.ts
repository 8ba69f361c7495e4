/** The parts of a worker process, made and started in the order in which the server does it. */

import type { PartitionId } from '@engine/domain';
import type { SharedLog } from '@engine/log';
import { ClusterView, Member, MemberPeers, TableDirectory } from '@engine/membership';
import { AckReturn, RoutedPeer } from '@engine/rpc';
import { LevelReplicaStores } from '@engine/storage-leveldb';
import type { MessageAck, PartitionPeer } from '@engine/wire';
import { Hosting, Worker } from '@engine/worker';

import { SimKvStore } from '../simulator/kv-store.js';
import type { ServerProcess } from '../simulator/process.js';
import type { ClusterChecks } from './cluster-checks.js';
import type { SimDocuments } from './documents.js';
import type { ClusterHooks } from './hooks.js';
import type { Links } from './links.js';
import { NodeControls, type ControlStation } from './node-controls.js';
import type { WorkerDoor, WorkerStation } from './way.js';
import { SimWorkerLinks } from './worker-links.js';
import type { WorkerNode, WorkerSurroundings } from './worker-node.js';

/** What a worker process needs of the cluster around it. */
export interface WorkerParts {
  readonly links: Links;
  readonly documents: SimDocuments;
  readonly checks: ClusterChecks;
  readonly hooks: ClusterHooks;
  readonly leaseTtlMs: number;
  readonly partitionCount: number;
  readonly worker: (address: string) => WorkerStation | undefined;
  readonly node: (address: string) => ControlStation | undefined;
  readonly messageFaults: { readonly loss: number; readonly repetition: number };
}

export interface RunningWorker {
  readonly worker: Worker;
  readonly hosting: Hosting;
  readonly member: Member;
  readonly stores: LevelReplicaStores;
  readonly door: WorkerDoor;
  readonly openLog: (partition: PartitionId) => SharedLog;
}

export interface WorkerStart {
  readonly node: WorkerNode;
  readonly process: ServerProcess;
  readonly cluster: WorkerSurroundings;
  /** The process cannot go on. */
  readonly onFatal: (error: unknown) => void;
}

export async function startWorker({
  node,
  process,
  cluster,
  onFatal,
}: WorkerStart): Promise<RunningWorker> {
  const { documents, hashes, hooks, partitionCount, checks, leaseTtlMs } = cluster;
  const { clock, scheduler, random } = process;
  const store = documents.storeFor({ id: node.id, process });
  const view = new ClusterView({ store, scheduler });
  await view.start();
  const stores = await LevelReplicaStores.open(
    {},
    {
      store: hooks.store(new SimKvStore(node.disk, process), node.id),
      source: cluster.snapshots.sourceFor(process),
      scheduler,
      onEvent: (event) => {
        if (event.kind !== 'restored') return;
        const { place, position } = event;
        const text = `partition ${String(place.partition)} from ${String(position.sequence)}`;
        cluster.note(`${process.name} restores ${text}`);
      },
    },
  );
  const directory = new TableDirectory(view, partitionCount);
  const acks = new AckReturn();
  const peer: RoutedPeer = new RoutedPeer({
    directory,
    links: linksOf({ node, process, cluster }),
    nodeId: node.id,
    local: () => worker,
    acks,
  });
  const worker: Worker = new Worker(cluster.optionsOf(node.id), {
    clock,
    scheduler,
    random,
    hashes,
    schema: cluster.schema,
    transport: cluster.transportFor(process),
    peer: watchedPeer(peer, process, checks),
    onFatal,
  });
  const openLog = (partition: PartitionId): SharedLog => cluster.openLog(node, partition);
  const controls = new NodeControls({ links: cluster.links, from: node, node: cluster.node });
  const hosting = new Hosting(
    { node: node.id, handoverPatienceMs: leaseTtlMs },
    {
      worker: hooks.seats(worker, node.id),
      openLog: (partition) => Promise.resolve(openLog(partition)),
      stores,
      peers: new MemberPeers({ self: node.id }, { view, controlAt: controls.control }),
      clock,
      scheduler,
      isLeaseHeld: () => member.leaseState === 'held',
    },
  );
  const member: Member = new Member(
    {
      id: node.id,
      roles: ['worker'],
      zone: undefined,
      binaryVersion: 'simulated',
      formats: hooks.formatsOf(node.id),
      leaseTtlMs,
    },
    {
      store,
      view,
      clock,
      scheduler,
      addresses: () => ({ internal: node.id, ingress: undefined, admin: undefined }),
      hasLetGo: () => hosting.leadsNothing,
      onFatal,
    },
  );
  view.onTable((table) => {
    hosting.assigned(table);
  });
  if (view.table !== undefined) hosting.assigned(view.table);
  member.onLease((state) => {
    hosting.lease(state);
  });
  await peer.start();
  await hosting.start();
  await member.start();
  return {
    worker,
    hosting,
    member,
    stores,
    door: doorOf(worker, acks, { process, cluster }),
    openLog,
  };
}

function linksOf({ node, process, cluster }: Omit<WorkerStart, 'onFatal'>): SimWorkerLinks {
  const { loop, chance, links, worker, messageFaults } = cluster;
  const own = chance.branch(`links of ${process.name}`);
  return new SimWorkerLinks({
    loop,
    chance: own,
    links,
    from: node,
    process,
    worker,
    messageFaults,
  });
}

/** What a worker says to others, looked at as it leaves. */
function watchedPeer(
  peer: PartitionPeer,
  process: ServerProcess,
  checks: ClusterChecks,
): PartitionPeer {
  return {
    deliver: (batch) => {
      if (!process.stepOutward()) return;
      checks.delivered(process, batch);
      peer.deliver(batch);
    },
    acknowledge: (ack) => {
      if (!process.stepOutward()) return;
      checks.acknowledged(process, ack);
      peer.acknowledge(ack);
    },
  };
}

function doorOf(
  worker: Worker,
  acks: AckReturn,
  { process, cluster: { checks, hooks } }: Pick<WorkerStart, 'process' | 'cluster'>,
): WorkerDoor {
  const ways = new Map<(ack: MessageAck) => void, { acknowledge(ack: MessageAck): void }>();
  return {
    channel: {
      send: (request, respond) => {
        checks.taken(process, request);
        return worker.send(request, (answer) => {
          if (!process.stepOutward()) return;
          checks.answered(process, request, answer);
          respond(answer);
        });
      },
    },
    deliver: (batch, answer) => {
      const way = ways.get(answer) ?? { acknowledge: answer };
      ways.set(answer, way);
      acks.note(batch.sender, way);
      worker.deliver(hooks.batch(batch));
    },
    forget: (answer) => {
      const way = ways.get(answer);
      ways.delete(answer);
      if (way !== undefined) acks.forget(way);
    },
  };
}
