/** What operators ask of placement: any admin writes it, the controller acts on it. */

import { EngineError, isEngineError, NO_ORDERS, type PlacementOrders } from '@engine/domain';
import {
  decodePlacementOrders,
  encodePlacementOrders,
  PLACEMENT_ORDERS_DOCUMENT,
  type MetadataStore,
} from '@engine/metadata';

/** How often a change starts again because another operator was faster. */
const UPDATE_ATTEMPTS_MAX = 16;

/**
 * Replaces the orders by what `change` makes of the newest; returning its argument writes nothing. `change` may run several times.
 *
 * Throws EngineError `unavailable` when the store cannot be reached, `conflict` when others were faster every time.
 */
export async function updateOrders(
  store: MetadataStore,
  change: (orders: PlacementOrders) => PlacementOrders,
): Promise<PlacementOrders> {
  for (let attempt = 1; attempt <= UPDATE_ATTEMPTS_MAX; attempt += 1) {
    const entry = await store.get(PLACEMENT_ORDERS_DOCUMENT);
    const before = entry === undefined ? NO_ORDERS : decodePlacementOrders(entry.value);
    const after = change(before);
    if (after === before) return before;
    try {
      const bytes = encodePlacementOrders(after);
      await store.put(PLACEMENT_ORDERS_DOCUMENT, bytes, entry?.version ?? 'absent');
      return after;
    } catch (error) {
      if (!isEngineError(error) || error.code !== 'conflict') throw error;
    }
  }
  throw new EngineError('conflict', 'the orders were changed by others again and again');
}
