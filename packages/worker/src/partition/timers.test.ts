import { describe, expect, it } from '@jest/globals';
import { compareTimerKeys, type InvocationId, type TimerKey } from '@engine/domain';

import { VirtualTime } from '../testing/virtual-time.js';
import type { Submission } from './command-queue.js';
import { TimerWindow, type StoredTimer } from './timers.js';

const START = 1_000_000;

function keyAt(dueInMs: number, index = 0): TimerKey {
  return { dueAt: START + dueInMs, kind: 'sleep', invocationId: 'inv_1x' as InvocationId, index };
}

/** A window over a table of timers; firing a timer removes its row, as the partition does. */
class Fixture {
  readonly time = new VirtualTime(START);
  readonly rows: StoredTimer[] = [];
  readonly fired: number[] = [];
  scans = 0;
  readonly window: TimerWindow;

  constructor(inMemoryMax: number) {
    this.window = new TimerWindow(
      { inMemoryMax },
      {
        clock: this.time,
        scheduler: this.time,
        sink: { submit: (submission) => this.#fire(submission) },
        scan: (after, limit) => Promise.resolve(this.#scan(after, limit)),
        onFatal: (error) => {
          throw error;
        },
      },
    );
  }

  add(key: TimerKey): void {
    this.rows.push({ key, incarnation: 1 });
    this.window.schedule(key, 1);
  }

  remove(key: TimerKey): void {
    this.#drop(key);
    this.window.cancel(key);
  }

  #fire(submission: Submission): void {
    if (submission.kind !== 'TimerFired') return;
    this.fired.push(submission.key.dueAt - START);
    this.#drop(submission.key);
  }

  #drop(key: TimerKey): void {
    const at = this.rows.findIndex((row) => compareTimerKeys(row.key, key) === 0);
    if (at >= 0) this.rows.splice(at, 1);
  }

  #scan(after: TimerKey | undefined, limit: number): StoredTimer[] {
    this.scans += 1;
    return this.rows
      .toSorted((a, b) => compareTimerKeys(a.key, b.key))
      .filter((row) => after === undefined || compareTimerKeys(row.key, after) > 0)
      .slice(0, limit);
  }
}

describe('TimerWindow', () => {
  it('fires in key order, never early', async () => {
    const fixture = await started(100);
    const { time, window, fired } = fixture;
    for (const ms of [30, 10, 20]) fixture.add(keyAt(ms));
    await time.pass(9);
    expect(fired).toEqual([]);
    await time.pass(1);
    expect(fired).toEqual([10]);
    await time.pass(20);
    expect(fired).toEqual([10, 20, 30]);
    expect(window.size).toBe(0);
    expect(time.timerCount).toBe(0);
  });

  it('does not fire what was cancelled', async () => {
    const fixture = await started(100);
    fixture.add(keyAt(10));
    fixture.add(keyAt(20));
    fixture.remove(keyAt(10));
    await fixture.time.pass(100);
    expect(fixture.fired).toEqual([20]);
  });

  it('keeps a bounded window and finds the rest in the store', async () => {
    const fixture = await started(8);
    const all = Array.from({ length: 100 }, (_, index) => (index * 37) % 100);
    for (const ms of all) fixture.add(keyAt(ms + 1_000));
    expect(fixture.window.size).toBeLessThanOrEqual(16);
    await fixture.time.pass(2_000);
    expect(fixture.fired).toEqual(all.map((ms) => ms + 1_000).sort((a, b) => a - b));
  });

  it('leaves timers of the far future in the store while near ones come and go', async () => {
    const fixture = await started(8);
    for (let turn = 0; turn < 200; turn += 1) {
      fixture.add(keyAt(86_400_000 + turn));
      fixture.add(keyAt(turn + 1));
      await fixture.time.pass(1);
    }
    expect(fixture.fired).toHaveLength(200);
    expect(fixture.window.size).toBeLessThanOrEqual(16);
    await fixture.time.pass(86_400_000);
    expect(fixture.fired).toHaveLength(400);
    expect(fixture.rows).toHaveLength(0);
  });

  it('loads what an earlier leader left', async () => {
    const fixture = new Fixture(8);
    for (const ms of [5, -10, 1]) fixture.rows.push({ key: keyAt(ms), incarnation: 1 });
    await fixture.window.start();
    await fixture.time.pass(10);
    expect(fixture.fired).toEqual([-10, 1, 5]);
  });
});

async function started(inMemoryMax: number): Promise<Fixture> {
  const fixture = new Fixture(inMemoryMax);
  await fixture.window.start();
  return fixture;
}
