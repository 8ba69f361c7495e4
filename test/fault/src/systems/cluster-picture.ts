/** The cluster as its admins show it to operators. */

export interface ClusterPicture {
  readonly nodes: readonly {
    readonly id: string;
    readonly liveness: string;
    readonly leads: number;
    readonly follows: number;
  }[];
  readonly partitions: readonly {
    readonly id: number;
    readonly leader: string | null;
    readonly epoch: string;
    readonly standbys: readonly string[];
    readonly replicas: readonly {
      readonly node: string;
      readonly phase: string;
      readonly epoch: string;
      readonly is_caught_up: boolean;
      readonly fault: string | null;
    }[];
  }[];
  readonly alarms: readonly { readonly kind: string; readonly message: string }[];
}

const ANSWER_MS_MAX = 2_000;

/** From the first admin that answers; undefined: none does. */
export async function readCluster(
  adminUrls: readonly string[],
): Promise<ClusterPicture | undefined> {
  for (const url of adminUrls) {
    try {
      const response = await fetch(`${url}/cluster`, {
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      });
      if (response.ok) return (await response.json()) as ClusterPicture;
      await response.text();
    } catch {
      // The next one may know.
    }
  }
  return undefined;
}

/** Every partition is led by a living worker, and has a standby with all of the data if there is somebody to be it. */
export function isSettled(
  { nodes, partitions }: ClusterPicture,
  workers: readonly string[],
): boolean {
  const areAlive = workers.every(
    (worker) => nodes.find(({ id }) => id === worker)?.liveness === 'alive',
  );
  if (!areAlive) return false;
  return partitions.every(({ leader, standbys, replicas }) => {
    const phaseOf = (node: string) => replicas.find((replica) => replica.node === node);
    if (leader === null || phaseOf(leader)?.phase !== 'leader') return false;
    const ready = standbys.filter((node) => phaseOf(node)?.is_caught_up === true);
    return ready.length === standbys.length && (workers.length < 2 || ready.length > 0);
  });
}
