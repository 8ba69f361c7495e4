/**
 * Runs `work` for every item, at most `countMax` at the same time, started in order. Resolves with the results in the order of
 * the items. When one fails no further one starts, those that run are waited for, and its error is thrown.
 */
export async function concurrently<Item, Result>(
  items: readonly Item[],
  countMax: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  let failure: { readonly error: unknown } | undefined;
  const takeTurns = async (): Promise<void> => {
    for (const [index, item] of queue) {
      if (failure !== undefined) return;
      try {
        results[index] = await work(item);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(countMax, items.length) }, takeTurns));
  if (failure !== undefined) throw failure.error;
  return results;
}
