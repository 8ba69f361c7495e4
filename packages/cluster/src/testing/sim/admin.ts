/** A simulated admin: the driver around a `Controller`. */

import {
  NO_ORDERS,
  type ClusterNode,
  type NodeId,
  type PartitionTable,
  type PlacementOrders,
} from '@engine/domain';
import type { LeaseTimes } from '@engine/metadata';
import { assertNever } from '@engine/stdx';

import type { ControllerAction, ControllerInput } from '../../controller/controller-io.js';
import { Controller, DEFAULT_TUNING, type ControllerTuning } from '../../controller/controller.js';
import type { Rendezvous } from '../../placement/rendezvous.js';
import { Process } from './process.js';
import type { Entry, SimDocuments } from './stores.js';
import type { SimWorker } from './worker.js';
import type { World } from './world.js';

export interface AdminSurroundings {
  readonly world: World;
  readonly documents: SimDocuments;
  readonly times: LeaseTimes;
  readonly partitionCount: number;
  readonly rendezvous: Rendezvous;
  readonly tuning: Partial<ControllerTuning>;
  readonly workers: readonly SimWorker[];
}

interface LeaseValue {
  readonly incarnation: number;
  readonly bye: boolean;
}

export class SimAdmin extends Process {
  readonly #surroundings: AdminSurroundings;
  #controller: Controller | undefined;
  #seen = new Map<string, bigint>();
  #nodes = new Map<string, ClusterNode>();
  readonly #incarnations = new Map<NodeId, number>();

  constructor(id: string, surroundings: AdminSurroundings) {
    super(id, surroundings.world);
    this.#surroundings = surroundings;
  }

  get isActive(): boolean {
    return this.isUp && this.#controller?.isActive(this.world.now) === true;
  }

  hearReport(worker: SimWorker): void {
    const reports = new Map(
      worker.replicas.map(({ partition, machine }) => [partition, machine.report]),
    );
    this.world.send(worker, this, () => {
      this.#tell({ kind: 'reports', node: worker.id, reports });
    });
  }

  protected onStart(): void {
    const { documents, partitionCount, times, tuning, rendezvous } = this.#surroundings;
    const fixed = { self: this.id, partitionCount, times, formatVersion: 1 };
    this.#controller = new Controller({ ...DEFAULT_TUNING, ...fixed, ...tuning }, rendezvous);
    this.#seen = new Map();
    this.#nodes = new Map();
    documents.watch(this, (name, entry) => {
      this.#onEntry(name, entry);
    });
    this.#poll(true);
    this.every(1_500, () => {
      this.#poll(false);
    });
    this.every(2_000, () => {
      const value: LeaseValue = { incarnation: this.incarnation, bye: false };
      documents.put(this, { name: `lease.${this.id}`, value }, (result) => {
        this.#access('write', result !== undefined);
      });
    });
    this.every(1_000, () => {
      for (const worker of this.#surroundings.workers) this.#probe(worker);
    });
    this.every(300, () => {
      this.#tell({ kind: 'tick' });
    });
  }

  protected onKill(): void {
    this.#controller = undefined;
  }

  /** What its timers find shows the gap: nothing needs to be done first. */
  protected onThaw(): void {
    this.world.note(`${this.id} goes on`);
  }

  #tell(input: ControllerInput): void {
    const actions = this.#controller?.step(input, this.world.now) ?? [];
    for (const action of actions) this.#perform(action);
  }

  #perform(action: ControllerAction): void {
    const { documents } = this.#surroundings;
    const sentAt = this.world.now;
    switch (action.kind) {
      case 'write-lease': {
        const write = { name: 'controller', value: this.id, expected: action.expected };
        documents.put(this, write, (result) => {
          this.#access('write', result !== undefined);
          if (typeof result === 'bigint') {
            this.#tell({ kind: 'lease-written', revision: result, sentAt });
          } else {
            this.#readBack(() => {
              this.#tell({ kind: 'lease-refused' });
            });
          }
        });
        return;
      }
      case 'write-table': {
        this.world.note(`${this.id} writes table ${action.table.version}`);
        const write = { name: 'table', value: action.table, expected: action.expected };
        documents.put(this, write, (result) => {
          this.#access('write', result !== undefined);
          if (typeof result === 'bigint') {
            this.#tell({ kind: 'table-written', revision: result });
          } else {
            this.#readBack(() => {
              this.#tell({ kind: 'table-refused' });
            });
          }
        });
        return;
      }
      case 'bury': {
        const { node, expected } = action;
        const incarnation = this.#incarnations.get(node) ?? 0;
        this.world.note(`${this.id} buries ${node}`);
        const write = { name: `lease.${node}`, value: { incarnation, bye: true }, expected };
        documents.put(this, write, (result) => {
          this.#access('write', result !== undefined);
          this.#readBack(() => {
            this.#tell({ kind: 'bury-ended', node });
            this.#tell({ kind: 'tick' });
          });
        });
        return;
      }
      case 'alarm':
        this.world.note(`${this.id} alarm: silent ${action.silent.join(' ')}`);
        return;
      default:
        assertNever(action);
    }
  }

  #readBack(done: () => void): void {
    this.#surroundings.documents.readAll(this, (entries) => {
      this.#access('read', entries !== undefined);
      for (const [name, entry] of entries ?? []) this.#onEntry(name, entry);
      done();
    });
  }

  #poll(isFirst: boolean): void {
    this.#surroundings.documents.readAll(this, (entries) => {
      this.#access('read', entries !== undefined);
      if (entries === undefined) {
        if (isFirst) this.#poll(true);
        return;
      }
      for (const [name, entry] of entries) this.#onEntry(name, entry);
      if (isFirst) this.#tell({ kind: 'synced' });
    });
  }

  #access(of: 'read' | 'write', isGood: boolean): void {
    this.#tell(isGood ? { kind: 'access-succeeded', of } : { kind: 'access-failed' });
  }

  #onEntry(name: string, { value, revision }: Entry): void {
    if ((this.#seen.get(name) ?? 0n) >= revision) return;
    this.#seen.set(name, revision);
    const [kind = '', id = ''] = name.split('.');
    switch (kind) {
      case 'controller':
        this.#tell({ kind: 'controller-lease', holder: value as NodeId, revision });
        return;
      case 'table':
        this.#tell({ kind: 'table', table: value as PartitionTable, revision });
        return;
      case 'orders':
        this.#tell({ kind: 'orders', orders: (value ?? NO_ORDERS) as PlacementOrders });
        return;
      case 'node':
        this.#nodes.set(id, value as ClusterNode);
        this.#tell({ kind: 'nodes', nodes: [...this.#nodes.values()] });
        return;
      case 'lease': {
        const { bye: hasLeft, incarnation } = value as LeaseValue;
        this.#incarnations.set(id as NodeId, incarnation);
        const node = id as NodeId;
        const { ttlMs } = this.#surroundings.times;
        this.#tell(
          hasLeft
            ? { kind: 'goodbye', node, revision }
            : { kind: 'node-lease', node, revision, ttlMs },
        );
        return;
      }
      default:
        return;
    }
  }

  #probe(worker: SimWorker): void {
    if (this.world.isCut(this.id, worker.id) || worker.isFrozen) return;
    const kind = worker.isUp ? 'reached' : 'refused';
    this.after(this.world.chance.between(1, 10), () => {
      this.#tell({ kind, node: worker.id });
    });
  }
}
