/**
 * What arrived for a handler. Scripts look at notifications one at a time in the order of the journal, only as far as they must:
 * that makes a replay take the same turns as the live run.
 */

import { resolveTree, type Arrival, type Tree } from './await-tree.js';
import type { SdkNotification, Settled } from './frames.js';

export class NotificationQueue {
  readonly #onRepeat: (id: string) => void;
  /** Not looked at, oldest first. */
  readonly #arrived: SdkNotification[] = [];
  /** Looked at and not consumed. */
  readonly #ready = new Map<string, Settled[]>();

  /** `onRepeat` hears of completions that come twice. */
  constructor(onRepeat: (id: string) => void) {
    this.#onRepeat = onRepeat;
  }

  push(notification: SdkNotification): void {
    this.#arrived.push(notification);
  }

  /** True when a notification of the id came, looked at or not. */
  has(id: string): boolean {
    return this.#ready.has(id) || this.#arrived.some((notification) => notification.id === id);
  }

  /** The oldest notification of an id that was looked at. */
  peek(id: string): Settled | undefined {
    return this.#ready.get(id)?.[0];
  }

  /** Consumes the oldest notification of an id that was looked at. */
  take(id: string): Settled | undefined {
    return this.#ready.get(id)?.shift();
  }

  /** Looks at one notification after the other until the tree is resolved; false when that is not enough. */
  resolve(tree: Tree): boolean {
    for (;;) {
      if (resolveTree(tree, this.arrivalOf) !== 'pending') return true;
      const notification = this.#arrived.shift();
      if (notification === undefined) return false;
      const { id, settled } = notification;
      const known = this.#ready.get(id);
      if (known === undefined) this.#ready.set(id, [settled]);
      else if (!id.startsWith('c')) known.push(settled);
      else this.#onRepeat(id);
    }
  }

  readonly arrivalOf = (id: string): Arrival => {
    const settled = this.peek(id);
    if (settled === undefined) return 'pending';
    return settled.kind === 'failure' ? 'failure' : 'success';
  };
}
