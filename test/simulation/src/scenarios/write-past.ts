import type { PartitionId } from '@engine/domain';
import { LOG_START, RecordWriter } from '@engine/log';
import { StreamLog } from '@engine/nats';
import { NO_MUTATIONS } from '@engine/wire';

import { LOG_IDENTITY } from '../cluster/log-truth.js';
import type { Story } from './story.js';

/** Somebody who asks nobody takes over the log as it is, and writes so many records. */
export async function writePast(
  story: Story,
  partition: PartitionId,
  count: number,
): Promise<void> {
  const { hashes, loop } = story.stage;
  const scheduler = {
    immediate: (fn: () => void) => {
      loop.after(0, fn);
    },
    after: (ms: number, fn: () => void) => loop.after(ms, fn),
  };
  const stream = story.around.servers.stream(partition);
  const clock = { now: () => stream.state().now, monotonic: () => loop.now };
  const log = new StreamLog(
    { identity: { ...LOG_IDENTITY, partition } },
    { stream: stream.view(), checksum: hashes.xxh3, clock, scheduler },
  );
  const taken = await story.done(
    log.takeOver({
      epoch: 1_000n,
      node: 'nobody',
      from: LOG_START,
      apply: () => undefined,
      signal: new AbortController().signal,
    }),
  );
  if (taken.kind !== 'leading') throw new Error(`the log was not taken over: ${taken.kind}`);
  const writer = new RecordWriter(taken.log.position, hashes.xxh3);
  for (let index = 0; index < count; index += 1) {
    await story.done(taken.log.commit(writer.next(NO_MUTATIONS)));
  }
}
