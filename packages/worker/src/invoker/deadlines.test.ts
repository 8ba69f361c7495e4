import { describe, expect, it } from '@jest/globals';

import { VirtualTime } from '../testing/virtual-time.js';
import { Deadlines } from './deadlines.js';

function fixture() {
  const time = new VirtualTime(0);
  const deadlines = new Deadlines(time, time);
  const passed: string[] = [];
  const target = (name: string) => ({
    onDeadline: () => {
      passed.push(`${name} ${String(time.now())}`);
    },
  });
  return { time, deadlines, passed, target };
}

describe('Deadlines', () => {
  it('passes each deadline once, in order, with one timer', async () => {
    const { time, deadlines, passed, target } = fixture();
    deadlines.set(target('b'), 20);
    deadlines.set(target('a'), 10);
    expect(time.timerCount).toBe(1);
    await time.pass(100);
    expect(passed).toEqual(['a 10', 'b 20']);
    expect(time.timerCount).toBe(0);
  });

  it('moves a deadline later and sooner', async () => {
    const { time, deadlines, passed, target } = fixture();
    const later = target('later');
    const sooner = target('sooner');
    deadlines.set(later, 10);
    deadlines.set(sooner, 50);
    await time.pass(5);
    deadlines.set(later, 25);
    deadlines.set(sooner, 5);
    await time.pass(100);
    expect(passed).toEqual(['sooner 10', 'later 30']);
  });

  it('forgets what was cleared', async () => {
    const { time, deadlines, passed, target } = fixture();
    const gone = target('gone');
    deadlines.set(gone, 10);
    deadlines.clear(gone);
    await time.pass(100);
    expect(passed).toEqual([]);
    expect(deadlines.size).toBe(0);
    expect(time.timerCount).toBe(0);
  });
});
