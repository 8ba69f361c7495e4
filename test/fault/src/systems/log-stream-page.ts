/** The stream of a partition's log as the monitoring page of a nats-server shows it. */

const ANSWER_MS_MAX = 1_000;

interface StreamDetail {
  readonly name: string;
  readonly cluster?: { readonly leader?: string };
  readonly state: { readonly last_seq: number };
}

interface Page {
  readonly account_details?: readonly { readonly stream_detail?: readonly StreamDetail[] }[];
}

/** Found by the end of its name: before that stands the id of the cluster, which is new each time. */
export async function readLogStream(
  url: string,
  partition: number,
): Promise<StreamDetail | undefined> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX);
    const response = await fetch(`${url}/jsz?streams=true`, { signal });
    const { account_details: accounts = [] } = (await response.json()) as Page;
    const streams = accounts.flatMap(({ stream_detail: details = [] }) => details);
    return streams.find(({ name }) => name.endsWith(`_log_${String(partition)}_1`));
  } catch {
    return undefined;
  }
}
