/** What every way to a node's control keeps. */

import { EngineError, toPartitionId } from '@engine/domain';
import { describe, expect, it } from '@jest/globals';

import type { NodeControl } from '@engine/wire';
import { arbitraryApplied, arbitraryReports } from '@engine/wire/contract';
import { ScriptedNode } from './scripted-node.js';
import { until } from './until.js';
import { sampleOf } from './worker-contract.js';

export interface NodeHarness {
  readonly control: NodeControl;
  dispose(): Promise<void>;
}

export function nodeContract(
  name: string,
  makeHarness: (node: ScriptedNode) => Promise<NodeHarness>,
): void {
  const withNode = async (
    body: (control: NodeControl, node: ScriptedNode) => Promise<void>,
  ): Promise<void> => {
    const node = new ScriptedNode();
    const harness = await makeHarness(node);
    try {
      await body(harness.control, node);
    } finally {
      await harness.dispose();
    }
  };

  describe(`${name}, as NodeControl`, () => {
    const [partition, other] = [toPartitionId(3), toPartitionId(4)];

    it('brings reports as they are', () =>
      withNode(async (control, node) => {
        for (const reports of sampleOf(arbitraryReports, 40)) {
          node.says = reports;
          expect(await control.reports()).toEqual(reports);
        }
      }));

    it('brings the place of a replica, or that there is none', () =>
      withNode(async (control, node) => {
        for (const place of sampleOf(arbitraryApplied, 20)) {
          if (place === undefined) node.places.delete(partition);
          else node.places.set(partition, place);
          expect(await control.applied(partition)).toEqual(place);
        }
        expect(await control.applied(other)).toBeUndefined();
      }));

    it('waits until the node has stopped, each partition for itself', () =>
      withNode(async (control, node) => {
        const over: string[] = [];
        const epoch = 2n ** 53n + 1n;
        const first = control.stopLeading(partition, epoch).then(() => over.push('first'));
        const second = control.stopLeading(other, 1n).then(() => over.push('second'));
        await until('both have come', () => node.stops.length === 2);
        expect(node.stops).toMatchObject([
          { partition, epoch },
          { partition: other, epoch: 1n },
        ]);
        node.stops[1]?.end();
        await second;
        expect(over).toEqual(['second']);
        node.stops[0]?.end();
        await first;
        expect(over).toEqual(['second', 'first']);
      }));

    it('who asks again is answered too', () =>
      withNode(async (control, node) => {
        const calls = [control.stopLeading(partition, 2n), control.stopLeading(partition, 2n)];
        await until('it has come', () => node.stops.length > 0);
        calls.push(control.stopLeading(partition, 2n));
        // Answers what comes late, too.
        const done = Promise.all(calls);
        let isDone = false;
        void done.then(() => {
          isDone = true;
        });
        await until('all are answered', () => {
          for (const { end } of node.stops) end();
          return isDone;
        });
      }));

    it('a failure keeps its code', () =>
      withNode(async (control, node) => {
        node.failure = new EngineError('unavailable', 'about to end');
        const failure = { code: 'unavailable', message: 'about to end' };
        await expect(control.reports()).rejects.toMatchObject(failure);
        await expect(control.applied(partition)).rejects.toMatchObject(failure);
        const stop = control.stopLeading(partition, 2n);
        await until('it has come', () => node.stops.length === 1);
        node.stops[0]?.end(new EngineError('internal', 'no such luck'));
        await expect(stop).rejects.toMatchObject({ code: 'internal', message: 'no such luck' });
      }));
  });
}
