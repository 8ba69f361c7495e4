/** The format of a cluster's data: raised only when every registered node can read it; before that, going back works. */

import type { ClusterConfiguration, ClusterNode, FormatRange } from '@engine/domain';

/** A node that cannot read the format in force neither follows nor leads. */
export function readsFormat({ min, max }: FormatRange, formatVersion: number): boolean {
  return min <= formatVersion && formatVersion <= max;
}

/** The highest version that every registered node reads, at least the one in force. Nodes count until they are removed, dead ones too. */
export function raisableFormat(
  { formatVersion }: ClusterConfiguration,
  nodes: readonly ClusterNode[],
): number {
  if (nodes.length === 0) return formatVersion;
  const highest = Math.min(...nodes.map(({ formats }) => formats.max));
  const isReadByAll = nodes.every(({ formats }) => readsFormat(formats, highest));
  return isReadByAll ? Math.max(highest, formatVersion) : formatVersion;
}
