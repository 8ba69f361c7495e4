import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { objectStoreContract } from '@engine/snapshots/contract';

import { S3ObjectStore, type S3Options } from './s3-object-store.js';
import { S3StandIn, sendError } from './testing/s3-stand-in.js';

const credentials = { accessKeyId: 'the-key', secretAccessKey: 'the-secret' };

function storeOn(standIn: S3StandIn, options: Partial<S3Options> = {}): S3ObjectStore {
  const { endpoint, bucket } = standIn;
  return new S3ObjectStore({ bucket, prefix: 'some/where', endpoint, credentials, ...options });
}

objectStoreContract('S3ObjectStore', async () => {
  const standIn = await S3StandIn.start();
  return {
    open: () => Promise.resolve(storeOn(standIn)),
    reopen: () => Promise.resolve(storeOn(standIn)),
    dispose: () => standIn[Symbol.asyncDispose](),
  };
});

describe('S3ObjectStore', () => {
  let standIn: S3StandIn;

  beforeEach(async () => {
    standIn = await S3StandIn.start();
  });

  afterEach(() => standIn[Symbol.asyncDispose]());

  const code = (value: string) => expect.objectContaining({ code: value });
  const bytes = Uint8Array.of(1, 2, 3);

  it('keeps to its prefix', async () => {
    standIn.objects.set('a', Buffer.from('x'));
    standIn.objects.set('some/whereelse', Buffer.from('x'));
    const store = storeOn(standIn);
    await store.put('a', bytes);
    expect([...standIn.objects.keys()].sort()).toEqual(['a', 'some/where/a', 'some/whereelse']);
    expect(await store.list('')).toEqual(['a']);
    const bare = storeOn(standIn, { prefix: '' });
    expect(await bare.list('')).toEqual(['a', 'some/where/a', 'some/whereelse']);
  });

  it('tries again what fails for a while', async () => {
    const store = storeOn(standIn);
    let failures = 2;
    standIn.refuse = (_request, response) => {
      if (failures === 0) return false;
      failures -= 1;
      sendError(response, 503, 'SlowDown');
      return true;
    };
    await store.put('a', bytes);
    expect(await store.get('a')).toEqual(bytes);
    expect(standIn.requests.filter(({ method }) => method === 'PUT')).toHaveLength(3);
  });

  it('says `storage` to refusals, at once', async () => {
    const other = { accessKeyId: 'another', secretAccessKey: 'x' };
    const store = storeOn(standIn, { credentials: other });
    await expect(store.put('a', bytes)).rejects.toThrow(code('storage'));
    await expect(store.get('a')).rejects.toThrow(code('storage'));
    await expect(store.list('')).rejects.toThrow('AccessDenied');
    await expect(storeOn(standIn, { bucket: 'none' }).get('a')).rejects.toThrow(code('storage'));
    expect(standIn.requests).toHaveLength(4);
  });

  it('says `unavailable` when nobody answers, in time, and when an object breaks off', async () => {
    const hangs = storeOn(standIn, { callMsMax: 100 });
    standIn.refuse = () => true;
    await expect(hangs.put('a', bytes)).rejects.toThrow(code('unavailable'));
    await expect(hangs.list('')).rejects.toThrow(code('unavailable'));
    standIn.refuse = (_request, response) => {
      response.writeHead(200, { 'content-length': 10 });
      response.write('abc', () => response.destroy());
      return true;
    };
    await expect(storeOn(standIn).get('a')).rejects.toThrow(code('unavailable'));
    const nobody = storeOn(standIn, { endpoint: 'http://127.0.0.1:1', callMsMax: 2_000 });
    await expect(nobody.get('a')).rejects.toThrow(code('unavailable'));
  });

  it('does not take an object that is larger than any', async () => {
    standIn.refuse = (_request, response) => {
      response.writeHead(200, { 'content-length': 100 * 1024 * 1024 });
      response.flushHeaders();
      return true;
    };
    await expect(storeOn(standIn).get('a')).rejects.toThrow(code('storage'));
  });
});
