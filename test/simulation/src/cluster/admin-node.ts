/** An admin process, as far as it decides who leads: the controller that ships, its driver, and its membership. */

import { ControllerDriver } from '@engine/admin';
import type { ControllerTuning } from '@engine/cluster';
import type { ClusterConfiguration, FormatRange, Hashes } from '@engine/domain';
import { ClusterView, Member, MemberPeers } from '@engine/membership';

import type { ServerProcess } from '../simulator/process.js';
import type { SimDocuments } from './documents.js';
import type { Links } from './links.js';
import { NodeControls, type ControlStation } from './node-controls.js';
import { SimNode, type NodeSurroundings } from './sim-node.js';

export interface AdminSurroundings extends NodeSurroundings {
  readonly links: Links;
  readonly documents: SimDocuments;
  readonly hashes: Hashes;
  readonly cluster: ClusterConfiguration;
  readonly leaseTtlMs: number;
  readonly tuning: Partial<ControllerTuning>;
  readonly formats: FormatRange;
  readonly node: (address: string) => ControlStation | undefined;
}

export class AdminNode extends SimNode {
  readonly #cluster: AdminSurroundings;
  #driver: ControllerDriver | undefined;

  constructor(id: string, surroundings: AdminSurroundings) {
    super(id, surroundings);
    this.#cluster = surroundings;
  }

  /** True while it decides. */
  get isController(): boolean {
    return this.#driver?.isController === true;
  }

  protected override async run(process: ServerProcess): Promise<void> {
    const { links, documents, hashes, cluster, leaseTtlMs, tuning, formats, node } = this.#cluster;
    const { clock, scheduler } = process;
    const store = documents.storeFor({ id: this.id, process });
    const view = new ClusterView({ store, scheduler });
    await view.start();
    const member = new Member(
      {
        id: this.id,
        roles: ['admin'],
        zone: undefined,
        binaryVersion: 'simulated',
        formats,
        leaseTtlMs,
      },
      {
        store,
        view,
        clock,
        scheduler,
        addresses: () => ({ internal: this.id, ingress: undefined, admin: this.id }),
        hasLetGo: () => true,
        onFatal: (error) => {
          this.failed(process, error);
        },
      },
    );
    await member.start();
    const controls = new NodeControls({ links, from: this, node });
    const peers = new MemberPeers({ self: this.id }, { view, controlAt: controls.control });
    const driver = new ControllerDriver(
      { cluster, leaseTtlMs, tuning },
      {
        store,
        member,
        control: (id) => peers.control(id),
        hash: hashes.xxh3,
        clock,
        scheduler,
        probe: controls.probe,
      },
    );
    this.#driver = driver;
    await driver.start();
  }

  protected override died(): void {
    this.#driver = undefined;
  }
}
