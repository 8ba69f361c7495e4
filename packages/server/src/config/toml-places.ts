/**
 * Which line of a TOML text gives a key, by its dotted path with dashes. For messages only: it knows tables and plain keys,
 * and a key inside an inline table or a multi-line text counts where that begins.
 */
export function placesOf(text: string): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  let table = '';
  text.split('\n').forEach((line, index) => {
    const header = /^\s*\[\[?\s*([^\]]+?)\s*\]/.exec(line)?.[1];
    if (header !== undefined) {
      table = normal(header);
      places.set(table, index + 1);
      return;
    }
    const key = /^\s*([A-Za-z0-9_."'\s-]+?)\s*=/.exec(line)?.[1];
    if (key === undefined) return;
    const path = table === '' ? normal(key) : `${table}.${normal(key)}`;
    if (!places.has(path)) places.set(path, index + 1);
  });
  return places;
}

function normal(path: string): string {
  return path.replaceAll(/["'\s]/g, '').replaceAll('_', '-');
}
