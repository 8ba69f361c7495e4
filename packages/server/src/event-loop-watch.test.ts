import { afterEach, describe, expect, it } from '@jest/globals';
import { configureLogging } from '@engine/telemetry';

import { EVENT_LOOP_BLOCK_MS_MAX, EventLoopWatch } from './event-loop-watch.js';

const BLOCK_MS = EVENT_LOOP_BLOCK_MS_MAX * 3;

afterEach(() => {
  configureLogging({ filter: 'silent', sink: process.stderr });
});

/** Lets the native timer have its turn before and after the work. */
async function block(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 30));
  const end = performance.now() + ms;
  while (performance.now() < end);
  await new Promise((resolve) => setTimeout(resolve, 30));
}

describe('event loop watch', () => {
  it('warns of a block, and says the worst one when asked', async () => {
    const lines: string[] = [];
    configureLogging({
      filter: 'info',
      format: 'json',
      sink: { write: (text) => lines.push(text) },
    });
    using watch = new EventLoopWatch();
    await block(BLOCK_MS);
    expect(watch.worstMs).toBeGreaterThan(EVENT_LOOP_BLOCK_MS_MAX);
    watch.sayWorst();
    const said = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(said[0]).toMatchObject({ msg: 'the event loop was blocked' });
    expect(said[1]).toMatchObject({ msg: 'worst event loop delay', worstMs: watch.worstMs });
  });
});
