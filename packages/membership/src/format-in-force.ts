/** The format of the cluster's data: a node that cannot read what the others write has no part in it. */

import { readsFormat } from '@engine/cluster';
import { EngineError, type ClusterConfiguration, type FormatRange } from '@engine/domain';

/** Throws EngineError META0010 when a binary of `formats` cannot read what is in force. */
export function requireReadableFormat(
  { formatVersion }: ClusterConfiguration,
  formats: FormatRange,
): void {
  if (readsFormat(formats, formatVersion)) return;
  const { min, max } = formats;
  throw new EngineError(
    'META0010',
    `the cluster writes format ${String(formatVersion)}; this server reads ${String(min)} to ${String(max)}`,
    { details: { formatVersion, min, max } },
  );
}
