import { EngineError } from '@engine/domain';
import { Metadata, status } from '@grpc/grpc-js';
import { describe, expect, it } from '@jest/globals';

import { introductionToMetadata, meet, type Introduction } from './handshake.js';
import { fromStatus, toStatus } from './status.js';

const MINE: Introduction = {
  clusterName: 'köln #1',
  nodeId: 'n-1',
  protocol: { min: 1, max: 2 },
  storeFormat: { min: 3, max: 4 },
};

const meeting = (more: Partial<Introduction>) => () =>
  meet(MINE, introductionToMetadata({ ...MINE, nodeId: 'n-2', ...more }));

describe('a handshake', () => {
  it('finds the newest version that both speak', () => {
    expect(meeting({ protocol: { min: 1, max: 9 } })()).toMatchObject({
      nodeId: 'n-2',
      version: 2,
    });
    expect(meeting({ protocol: { min: 0, max: 1 } })().version).toBe(1);
    expect(meeting({})().clusterName).toBe('köln #1');
  });

  it.each([
    [{ clusterName: 'other' }, 'wrong-cluster', "node n-2 belongs to cluster 'other'"],
    [{ protocol: { min: 3, max: 4 } }, 'incompatible', 'protocol versions 3-4, this node has 1-2'],
    [{ storeFormat: { min: 1, max: 2 } }, 'incompatible', 'store formats 1-2, this node has 3-4'],
  ])('refuses %j', (more, code, text) => {
    const error = expect.objectContaining({ code, message: expect.stringContaining(text) });
    expect(meeting(more)).toThrow(error as unknown as Error);
  });

  it.each([[{}], [{ 'engine-cluster': '%' }], [{ 'engine-protocol': '1' }]])(
    'refuses who does not say who it is: %j',
    (parts) => {
      const metadata = new Metadata();
      for (const [key, value] of Object.entries(parts)) metadata.set(key, value);
      expect(() => meet(MINE, metadata)).toThrow(
        expect.objectContaining({ code: 'incompatible' }) as unknown as Error,
      );
    },
  );
});

describe('statuses', () => {
  it('bring code, message and reason to the other end', () => {
    const error = new EngineError('unavailable', 'not here', { details: { reason: 'not-leader' } });
    const status = Object.assign(new Error(), toStatus(error));
    expect(fromStatus(status)).toMatchObject({
      code: 'unavailable',
      message: 'not here',
      details: { reason: 'not-leader' },
    });
  });

  it("hide what is nobody else's code, and read what gRPC says by itself", () => {
    expect(toStatus(new Error('oops'))).toMatchObject({ code: status.INTERNAL, details: 'oops' });
    const bare = Object.assign(new Error(), { code: status.DEADLINE_EXCEEDED, details: 'late' });
    expect(fromStatus(bare)).toMatchObject({ code: 'unavailable', message: 'late' });
    expect(fromStatus(new Error('what'))).toMatchObject({ code: 'unavailable' });
  });
});
