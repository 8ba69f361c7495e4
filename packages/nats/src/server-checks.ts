/**
 * What the servers don't tell their clients: whether a write is on disk before it is acknowledged. Their monitoring page does, so it
 * is asked where its address is configured.
 */

import { EngineError } from '@engine/domain';
import { z } from 'zod';

const MONITOR_TIMEOUT_MS = 2_000;

const page = z.object({
  config: z.object({ sync_always: z.boolean().optional(), store_dir: z.string().optional() }),
});

/** Yes, no, or nobody could say. */
export type SyncFinding = 'always' | 'delayed' | 'unknown';

/**
 * Asks the monitoring pages of all servers, such as `http://nats-0:8222`. `delayed` when any of them says that it acknowledges
 * before it has synced: a power cut can take acknowledged records then. Never rejects.
 */
export async function findSync(monitorUrls: readonly string[]): Promise<SyncFinding> {
  const findings = await Promise.all(monitorUrls.map(findSyncOf));
  if (findings.includes('delayed')) return 'delayed';
  const isCertain = findings.length > 0 && !findings.includes('unknown');
  return isCertain ? 'always' : 'unknown';
}

/** Throws EngineError RT0002 when the servers are known to acknowledge before they have synced. */
export function requireSync(finding: SyncFinding): void {
  if (finding !== 'delayed') return;
  throw new EngineError(
    'RT0002',
    'the nats-servers acknowledge writes before they are on disk; set sync_interval: always in their jetstream section',
  );
}

async function findSyncOf(monitorUrl: string): Promise<SyncFinding> {
  try {
    const signal = AbortSignal.timeout(MONITOR_TIMEOUT_MS);
    const response = await fetch(new URL('/jsz', monitorUrl), { signal });
    const { config } = page.parse(await response.json());
    return config.sync_always === true ? 'always' : 'delayed';
  } catch {
    return 'unknown';
  }
}
