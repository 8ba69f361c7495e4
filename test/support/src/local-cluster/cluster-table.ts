// Who leads what, as an admin tells.
import { waitUntil } from '../wait-until.js';

const ANSWER_MS = 2_000;
const READY_MS = 60_000;

interface ClusterAnswer {
  readonly partitions: readonly {
    readonly id: number;
    readonly leader: string | null;
    readonly replicas: readonly { readonly node: string; readonly phase: string }[];
  }[];
}

/** Partition → the node that the table names as its leader. Rejects when the admin does not answer. */
export async function readLeaders(
  adminUrl: string,
): Promise<ReadonlyMap<number, string | undefined>> {
  const { partitions } = await readCluster(adminUrl);
  return new Map(partitions.map(({ id, leader }) => [id, leader ?? undefined]));
}

/** Waits until every partition is led by the node that the table names. */
export async function untilAllLed(adminUrl: string): Promise<void> {
  await waitUntil(
    'every partition has a leader',
    async () => {
      try {
        const { partitions } = await readCluster(adminUrl);
        const isLed = partitions.map(({ leader, replicas }) =>
          replicas.some(({ node, phase }) => node === leader && phase === 'leader'),
        );
        return isLed.length > 0 && !isLed.includes(false);
      } catch {
        return false;
      }
    },
    READY_MS,
  );
}

async function readCluster(adminUrl: string): Promise<ClusterAnswer> {
  const response = await fetch(`${adminUrl}/cluster`, { signal: AbortSignal.timeout(ANSWER_MS) });
  if (!response.ok) throw new Error(`${adminUrl}/cluster: ${await response.text()}`);
  return (await response.json()) as ClusterAnswer;
}
