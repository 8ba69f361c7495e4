/**
 * The document of this node. Each start of a process takes the next incarnation by compare-and-set; a process that finds a later one than
 * its own has been followed by another of the same name, and is none of the cluster any more.
 */

import { EngineError, isEngineError, type ClusterNode } from '@engine/domain';
import {
  decodeNode,
  encodeNode,
  nodeDocument,
  type ExpectedVersion,
  type MetadataStore,
} from '@engine/metadata';
import { equalBytes } from '@engine/stdx';

/** What a node says of itself, but for what registering settles. */
export type NodeDescription = Omit<ClusterNode, 'incarnation' | 'isLeaving'>;

export class Registration {
  readonly #store: MetadataStore;
  readonly #description: NodeDescription;
  #incarnation: number | undefined;
  #isLeaving = false;

  constructor(description: NodeDescription, store: MetadataStore) {
    this.#store = store;
    const { id, roles, addresses, zone, binaryVersion, formats } = description;
    this.#description = { id, roles, addresses, zone, binaryVersion, formats };
  }

  /** 0 before the first registration. */
  get incarnation(): number {
    return this.#incarnation ?? 0;
  }

  /**
   * Makes the document say what it should, and gives what it says. The first call takes the next incarnation.
   *
   * Throws EngineError RT0005 when another process of the same name has started since, `unavailable` when the store cannot be
   * reached; then call it again.
   */
  async register(): Promise<ClusterNode> {
    for (;;) {
      const { found, expected } = await this.#look();
      const node = this.#next(found);
      if (found !== undefined && isSame(found, node)) return node;
      try {
        await this.#store.put(nodeDocument(node.id), encodeNode(node), expected);
      } catch (error) {
        if (isEngineError(error) && error.code === 'conflict') continue;
        throw error;
      }
      this.#incarnation = node.incarnation;
      return node;
    }
  }

  /** The same, with the word that the node is about to end. */
  leave(): Promise<ClusterNode> {
    this.#isLeaving = true;
    return this.register();
  }

  async #look(): Promise<{
    readonly found: ClusterNode | undefined;
    readonly expected: ExpectedVersion;
  }> {
    const entry = await this.#store.get(nodeDocument(this.#description.id));
    if (entry === undefined) return { found: undefined, expected: 'absent' };
    return { found: decodeNode(entry.value), expected: entry.version };
  }

  #next(found: ClusterNode | undefined): ClusterNode {
    const last = found?.incarnation ?? 0;
    const incarnation = this.#incarnation ?? last + 1;
    if (last > incarnation) throw followed(this.#description.id, last);
    return { ...this.#description, incarnation, isLeaving: this.#isLeaving };
  }
}

/** Read back first, so that members stand in the same order. */
function isSame(a: ClusterNode, b: ClusterNode): boolean {
  return equalBytes(encodeNode(a), encodeNode(decodeNode(encodeNode(b))));
}

function followed(id: string, incarnation: number): EngineError {
  return new EngineError(
    'RT0005',
    `another process has started as the node '${id}'; each needs a node-name of its own`,
    { details: { node: id, incarnation } },
  );
}
