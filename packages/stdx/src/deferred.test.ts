import { describe, expect, it } from '@jest/globals';
import { Deferred } from './deferred.js';

describe('Deferred', () => {
  it('keeps the first settlement', async () => {
    const deferred = new Deferred<number>();
    expect(deferred.settled).toBe(false);
    deferred.resolve(1);
    deferred.resolve(2);
    deferred.reject(new Error('late'));
    expect(deferred.settled).toBe(true);
    await expect(deferred.promise).resolves.toBe(1);
  });

  it('rejects with the given reason', async () => {
    const deferred = new Deferred<number>();
    deferred.reject(new Error('no'));
    await expect(deferred.promise).rejects.toThrow('no');
  });
});
