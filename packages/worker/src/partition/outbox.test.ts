import { describe, expect, it } from '@jest/globals';
import { toPartitionId, type InvocationId, type PartitionMessage } from '@engine/domain';
import { seededRandom } from '@engine/runtime';

import { VirtualTime } from '../testing/virtual-time.js';
import { Outbox, UNACKNOWLEDGED_MAX } from './outbox.js';
import type { Submission } from './command-queue.js';

const THERE = toPartitionId(3);

function message(sequence: number): PartitionMessage {
  return { kind: 'kill', invocationId: `inv_1${String(sequence)}` as InvocationId };
}

/** The receiving partition: applies exactly the next message and says up to where it is. */
class Receiver {
  readonly applied: PartitionMessage[] = [];

  arrive(first: number, messages: readonly PartitionMessage[]): number {
    for (const [offset, arrived] of messages.entries()) {
      if (first + offset === this.applied.length) this.applied.push(arrived);
    }
    return this.applied.length - 1;
  }
}

type Batch = { readonly first: number; readonly messages: readonly PartitionMessage[] };

class Fixture {
  readonly time = new VirtualTime();
  readonly rows = new Map<number, PartitionMessage>();
  readonly sent: Batch[] = [];
  readonly truncated: number[] = [];
  next = 0;
  first = 0;
  onDeliver: (batch: Batch) => void = () => undefined;
  outbox = this.#make();

  /** A message becomes durable. */
  add(count = 1): void {
    for (let i = 0; i < count; i += 1) {
      this.rows.set(this.next, message(this.next));
      this.outbox.add(THERE, this.next, message(this.next));
      this.next += 1;
    }
    this.outbox.flush();
  }

  restart(): void {
    this.outbox.stop();
    this.outbox = this.#make();
    this.outbox.recover(THERE);
    this.outbox.flush();
  }

  #make(): Outbox {
    return new Outbox({
      scheduler: this.time,
      state: {
        outboxMessage: (_destination, sequence) => this.rows.get(sequence),
        outboxCursor: () => ({ first: this.first, next: this.next }),
      },
      sink: { submit: (submission) => this.#truncate(submission) },
      deliver: ({ first, messages }) => {
        this.sent.push({ first, messages });
        this.onDeliver({ first, messages });
      },
    });
  }

  #truncate(submission: Submission): void {
    if (submission.kind !== 'MessagesAcknowledged') return;
    this.truncated.push(submission.upTo);
    for (; this.first <= submission.upTo; this.first += 1) this.rows.delete(this.first);
  }
}

describe('Outbox', () => {
  it('sends the messages of one record together', () => {
    const fixture = new Fixture();
    fixture.add(3);
    expect(fixture.sent).toEqual([{ first: 0, messages: [message(0), message(1), message(2)] }]);
  });

  it('truncates acknowledged messages together, a moment later', async () => {
    const fixture = new Fixture();
    fixture.add(3);
    fixture.outbox.acknowledged(THERE, 0);
    fixture.outbox.acknowledged(THERE, 2);
    expect(fixture.truncated).toEqual([]);
    await fixture.time.pass(1_000);
    expect(fixture.truncated).toEqual([2]);
    expect(fixture.time.timerCount).toBe(0);
  });

  it('goes back once to what the receiver asks for', () => {
    const fixture = new Fixture();
    fixture.add(1);
    fixture.add(1);
    fixture.outbox.acknowledged(THERE, -1);
    fixture.outbox.acknowledged(THERE, -1);
    expect(fixture.sent.map((batch) => batch.first)).toEqual([0, 1, 0]);
    expect(fixture.sent[2]?.messages).toHaveLength(2);
  });

  it('sends again, less and less often, while nobody answers', async () => {
    const fixture = new Fixture();
    fixture.add(1);
    await fixture.time.pass(60_000);
    expect(fixture.sent.length).toBeGreaterThan(5);
    expect(fixture.sent.length).toBeLessThan(20);
    fixture.outbox.acknowledged(THERE, 0);
    await fixture.time.pass(60_000);
    expect(fixture.time.timerCount).toBe(0);
  });

  it('takes up after a restart what was not acknowledged, in order', () => {
    const fixture = new Fixture();
    fixture.add(4);
    fixture.first = 2;
    fixture.restart();
    fixture.add(1);
    expect(fixture.sent.slice(1)).toEqual([
      { first: 2, messages: [message(2), message(3)] },
      { first: 4, messages: [message(4)] },
    ]);
  });

  it('sends no more than a window ahead and reads the rest from the store', () => {
    const fixture = new Fixture();
    const receiver = new Receiver();
    fixture.add(UNACKNOWLEDGED_MAX + 500);
    const sent = fixture.sent.reduce((sum, batch) => sum + batch.messages.length, 0);
    expect(sent).toBe(UNACKNOWLEDGED_MAX);
    for (const batch of fixture.sent.splice(0)) receiver.arrive(batch.first, batch.messages);
    fixture.outbox.acknowledged(THERE, UNACKNOWLEDGED_MAX - 1);
    for (const batch of fixture.sent) receiver.arrive(batch.first, batch.messages);
    expect(receiver.applied).toHaveLength(UNACKNOWLEDGED_MAX + 500);
  });

  it.each([1, 2, 3, 4, 5])('delivers everything over a bad link, seed %d', async (seed) => {
    const random = seededRandom(seed);
    const fixture = new Fixture();
    const receiver = new Receiver();
    fixture.onDeliver = (batch) => {
      for (let copy = 0; copy < 2; copy += 1) {
        if (random.float() < 0.5) continue;
        fixture.time.after(random.float() * 50, () => {
          const upTo = receiver.arrive(batch.first, batch.messages);
          if (random.float() < 0.5) return;
          fixture.time.after(random.float() * 50, () => {
            fixture.outbox.acknowledged(THERE, upTo);
          });
        });
      }
    };
    for (let turn = 0; turn < 50; turn += 1) {
      fixture.add(1 + Math.floor(random.float() * 3));
      await fixture.time.pass(random.float() * 20);
      if (random.float() < 0.1) fixture.restart();
    }
    await fixture.time.pass(300_000);
    expect(receiver.applied).toEqual(
      Array.from({ length: fixture.next }, (_, sequence) => message(sequence)),
    );
    expect(fixture.rows.size).toBe(0);
  });
});
