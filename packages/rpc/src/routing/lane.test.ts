import { toPartitionId, type PartitionAnswer, type PartitionRequest } from '@engine/domain';
import type { PartitionChannel } from '@engine/wire';
import { describe, expect, it } from '@jest/globals';

import { RESEND_WINDOW_MS_MAX, SETTLED_MS } from '../limits.js';
import { Lane } from './lane.js';

const WAIT_MS = 10_000;
const GIVEN_UP = { kind: 'unavailable', reason: 'disconnected' };

/** A lane whose time and leader are the test's. */
class World {
  now = 0;
  leader: PartitionChannel | undefined;
  readonly answers: PartitionAnswer[] = [];
  respond: ((answer: PartitionAnswer) => void) | undefined;
  readonly #timers: { readonly at: number; readonly fn: () => void }[] = [];
  readonly lane = new Lane(toPartitionId(0), {
    clock: { now: () => 0, monotonic: () => this.now },
    scheduler: {
      immediate: (fn) => {
        fn();
      },
      after: (ms, fn) => {
        const timer = { at: this.now + ms, fn };
        this.#timers.push(timer);
        return { cancel: () => this.#timers.splice(this.#timers.indexOf(timer), 1) };
      },
    },
    chance: () => 0,
    leader: () => this.leader,
    refresh: () => undefined,
    waitMsMax: WAIT_MS,
    onParked: () => undefined,
    onOver: () => undefined,
  });

  send(): void {
    const request: PartitionRequest = {
      kind: 'attach',
      requestId: 'r',
      invocationId: 'inv_1' as never,
      blocking: true,
    };
    this.lane.take(request, (answer) => this.answers.push(answer));
  }

  /** A new leader, who takes what waits. */
  lead(): void {
    this.leader = {
      send: (_, respond) => {
        this.respond = respond;
        return { withdraw: () => undefined };
      },
    };
    this.lane.rouse();
  }

  /** The way to the leader breaks, and there is no other one yet. */
  lose(): void {
    this.leader = undefined;
    this.respond?.({ kind: 'unavailable', reason: 'disconnected' });
  }

  pass(ms: number): void {
    this.now += ms;
    for (const timer of this.#timers.filter(({ at }) => at <= this.now)) {
      this.#timers.splice(this.#timers.indexOf(timer), 1);
      timer.fn();
    }
    this.lane.expire(this.now);
  }
}

describe('the wait of a request', () => {
  it('is over when it was without a leader for so long, all times together', () => {
    const world = new World();
    world.send();
    world.pass(WAIT_MS - 100);
    world.lead();
    world.pass(50);
    world.lose();
    world.pass(99);
    expect(world.answers).toEqual([]);
    world.pass(1);
    expect(world.answers).toEqual([GIVEN_UP]);
  });

  it('does not count the time with leaders, however often they change', () => {
    const world = new World();
    world.send();
    for (let change = 0; change < 8; change += 1) {
      world.pass(1_000);
      world.lead();
      world.pass(SETTLED_MS - 1);
      world.lose();
    }
    expect(world.answers).toEqual([]);
    world.lead();
    world.respond?.({ kind: 'not-found' });
    expect(world.answers).toEqual([{ kind: 'not-found' }]);
  });

  it('starts anew after a leader who had it for long', () => {
    const world = new World();
    world.send();
    world.pass(WAIT_MS - 100);
    world.lead();
    world.pass(SETTLED_MS + 1);
    world.lose();
    world.pass(WAIT_MS - 1);
    expect(world.answers).toEqual([]);
    world.pass(1);
    expect(world.answers).toEqual([GIVEN_UP]);
  });

  it('ends before a repeat might have a second effect', () => {
    const world = new World();
    world.send();
    const round = SETTLED_MS;
    for (let passed = 0; passed + round < RESEND_WINDOW_MS_MAX; passed += round) {
      world.lead();
      world.pass(round);
      world.lose();
    }
    expect(world.answers).toEqual([]);
    world.pass(round);
    expect(world.answers).toEqual([GIVEN_UP]);
  });
});
