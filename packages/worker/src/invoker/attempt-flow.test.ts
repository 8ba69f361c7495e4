import { describe, expect, it } from '@jest/globals';

import type { Submission } from '../partition/command-queue.js';
import { VirtualTime } from '../testing/virtual-time.js';
import { AttemptFlow } from './attempt-flow.js';
import type { Exchange } from './deployment-transport.js';
import { PayloadMemory } from './payload-memory.js';

const LARGE = 200_000;

class ReadExchange implements Exchange {
  isPaused = false;

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  write(): void {
    // Nobody listens.
  }

  closeRequest(): void {
    // Nobody listens.
  }

  reset(): void {
    // Nobody listens.
  }
}

/** Flows over one memory; what is submitted becomes durable when the test says so. */
class Flows {
  readonly time = new VirtualTime();
  readonly memory = new PayloadMemory(4 * LARGE, this.time);
  started = 0;
  readonly #submitted: Submission[] = [];

  open(): { readonly flow: AttemptFlow; readonly exchange: ReadExchange } {
    const processor = {
      submit: (submission: Submission) => {
        this.#submitted.push(submission);
      },
    };
    const flow = new AttemptFlow({ processor, memory: this.memory }, this);
    const exchange = new ReadExchange();
    flow.opened(exchange);
    return { flow, exchange };
  }

  onStartRoom(): void {
    this.started += 1;
  }

  becomeDurable(): void {
    for (const submission of this.#submitted.splice(0)) {
      if (submission.kind === 'Fence') submission.release();
    }
  }

  get used(): readonly [replayed: number, received: number] {
    return [this.memory.replayed.usedBytes, this.memory.received.usedBytes];
  }
}

describe('memory of an attempt', () => {
  it('is held for a message until it is durable', () => {
    const flows = new Flows();
    const { flow } = flows.open();
    flow.received(LARGE);
    expect(flows.used).toEqual([0, LARGE]);
    flow.received(0);
    expect(flows.used).toEqual([0, LARGE]);
    flows.becomeDurable();
    expect(flows.used).toEqual([0, 0]);
    flow.end();
    expect(flows.used).toEqual([0, 0]);
  });

  it('is held for the last message too, although the attempt is over', () => {
    const flows = new Flows();
    const { flow } = flows.open();
    flow.holdStart(LARGE);
    flow.received(LARGE);
    flow.drain();
    expect(flows.used).toEqual([0, LARGE]);
    flows.becomeDurable();
    flow.end();
    expect(flows.used).toEqual([0, 0]);
  });

  it('is given back at once for a message that never becomes whole', () => {
    const flows = new Flows();
    const { flow } = flows.open();
    flow.holdStart(LARGE);
    flow.received(LARGE);
    flow.end();
    flow.end();
    flows.becomeDurable();
    expect(flows.used).toEqual([0, 0]);
  });

  it('is not waited for any more when the attempt is over', async () => {
    const flows = new Flows();
    const [first, second, third] = [flows.open(), flows.open(), flows.open()];
    first.flow.received(LARGE);
    second.flow.received(LARGE);
    third.flow.received(LARGE);
    expect([second, third].map(({ flow }) => flow.isWaitingForMemory)).toEqual([true, true]);
    second.flow.end();
    first.flow.end();
    await flows.time.settle();
    expect(flows.memory.received.waitingCount).toBe(0);
    expect(third.exchange.isPaused).toBe(false);
    expect(flows.used).toEqual([0, LARGE]);
    third.flow.end();
    expect(flows.used).toEqual([0, 0]);
  });

  it('for a start is there when the waiter hears of it', async () => {
    const flows = new Flows();
    const [first, second] = [flows.open(), flows.open()];
    expect(first.flow.holdStart(3 * LARGE)).toBe(true);
    expect(second.flow.holdStart(LARGE)).toBe(false);
    first.flow.end();
    await flows.time.settle();
    expect(flows.started).toBe(1);
    expect(second.flow.holdStart(LARGE)).toBe(true);
    expect(flows.used).toEqual([LARGE, 0]);
    second.flow.end();
    expect(flows.used).toEqual([0, 0]);
  });
});

describe('a response', () => {
  it('is not read while too much of it is not durable', () => {
    const flows = new Flows();
    const { flow, exchange } = flows.open();
    flow.submitted(1_000_000);
    expect(flow.isHeld).toBe(false);
    flow.submitted(1_000_000);
    expect([flow.isHeld, exchange.isPaused]).toEqual([true, true]);
    flows.becomeDurable();
    expect([flow.isHeld, exchange.isPaused]).toEqual([false, false]);
  });

  it('is read to its end when nobody hears it any more', () => {
    const flows = new Flows();
    const { flow, exchange } = flows.open();
    flow.submitted(2_000_000);
    flow.drain();
    expect(exchange.isPaused).toBe(false);
    flows.becomeDurable();
    expect(exchange.isPaused).toBe(false);
  });
});
