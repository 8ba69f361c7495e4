import { describe, expect, it } from '@jest/globals';
import { Readiness } from './readiness.js';
import { delay, systemScheduler, type Scheduler } from './scheduler.js';
import { startInOrder, type Service } from './service.js';
import { TaskGroup } from './task-group.js';

const untilAborted = (signal: AbortSignal): Promise<void> => delay(systemScheduler, 60_000, signal);

/** Every delay ends at once. */
const hurried: Scheduler = {
  immediate: queueMicrotask,
  after: (_ms, fn) => {
    queueMicrotask(fn);
    return { cancel: () => undefined };
  },
};

describe('TaskGroup', () => {
  it('reaches every task with one abort and waits for all of them', async () => {
    const group = new TaskGroup(systemScheduler);
    group.run(untilAborted);
    group.run(untilAborted);
    expect(group.runningCount).toBe(2);
    await expect(group.stop(60_000)).resolves.toBe(true);
    expect(group.errors).toEqual([]);
    expect(group.runningCount).toBe(0);
  });

  it('keeps what a task threw and aborts the others', async () => {
    const group = new TaskGroup(systemScheduler);
    const failure = new Error('disk gone');
    group.run(untilAborted);
    group.run(() => Promise.reject(failure));
    await group.settled();
    expect(group.errors).toEqual([failure]);
    expect(group.signal.reason).toBe(failure);
  });

  it('says so when a task outlives the limit', async () => {
    const group = new TaskGroup(hurried);
    group.run(() => new Promise(() => undefined));
    await expect(group.stop(5)).resolves.toBe(false);
  });

  it('is taken down by its scope', async () => {
    const group = new TaskGroup(systemScheduler);
    {
      await using scope = group;
      scope.run(untilAborted);
    }
    expect(group.runningCount).toBe(0);
  });
});

describe('delay', () => {
  it('resolves in time and rejects on abort', async () => {
    await expect(delay(hurried, 1000)).resolves.toBeUndefined();
    const reason = new Error('enough');
    await expect(delay(systemScheduler, 1000, AbortSignal.abort(reason))).rejects.toBe(reason);
    const controller = new AbortController();
    const waiting = delay(systemScheduler, 60_000, controller.signal);
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });
});

describe('startInOrder', () => {
  const recording = (name: string, events: string[], fails = false): Service => ({
    start: () => {
      events.push(`start ${name}`);
      return fails ? Promise.reject(new Error(`no ${name}`)) : Promise.resolve();
    },
    [Symbol.asyncDispose]: () => {
      events.push(`stop ${name}`);
      return Promise.resolve();
    },
  });

  it('takes down in the opposite order', async () => {
    const events: string[] = [];
    const stack = await startInOrder([recording('a', events), recording('b', events)]);
    await stack.disposeAsync();
    expect(events).toEqual(['start a', 'start b', 'stop b', 'stop a']);
  });

  it('takes down what had started when one fails', async () => {
    const events: string[] = [];
    const services = [recording('a', events), recording('b', events, true)];
    await expect(startInOrder(services)).rejects.toThrow('no b');
    expect(events).toEqual(['start a', 'start b', 'stop a']);
  });
});

describe('Readiness', () => {
  it('is ready once nothing is missing', async () => {
    const readiness = new Readiness();
    readiness.notReady('partition 3', 'opening the store');
    readiness.notReady('ingress', 'binding');
    const ready = readiness.whenReady(new AbortController().signal);
    readiness.ready('ingress');
    expect([...readiness.missing.keys()]).toEqual(['partition 3']);
    readiness.ready('partition 3');
    await ready;
    expect(readiness.isReady).toBe(true);
  });

  it('stops waiting when told to', async () => {
    const readiness = new Readiness();
    readiness.notReady('a', 'b');
    const reason = new Error('stop');
    await expect(readiness.whenReady(AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});
