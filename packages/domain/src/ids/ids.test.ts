import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatAwakeableId, parseAwakeableId } from './awakeable-id.js';
import { decodeBase64Url, encodeBase64Url } from './base64url.js';
import {
  composeInvocationId,
  derivePartitionKey,
  idempotentInvocationId,
  workflowInvocationId,
} from './derive.js';
import { loadHashes, type Hashes } from './hashes.js';
import { invocationIdFromBytes, invocationIdToBytes, partitionKeyOf } from './invocation-id.js';
import {
  deploymentIdFromUlid,
  deploymentIdToUlid,
  parseDeploymentId,
  parseSubscriptionId,
  subscriptionIdFromUlid,
} from './resource-id.js';
import { ulidBytes, ulidText, ulidTimestampMs } from './ulid.js';

const fromHex = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('derived ids', () => {
  let hashes: Hashes;
  beforeAll(async () => {
    hashes = await loadHashes();
  });

  it('gives partition keys by scope, key, bucket', () => {
    const keyOf = (target: object, bucket = 0): string =>
      derivePartitionKey({ service: 'Greeter', ...target }, hashes, bucket).toString(16);
    expect(keyOf({ key: 'k1' })).toBe('548ae3cba54055b3');
    expect(keyOf({ key: 'z' })).toBe('7ef8a66ed48c90b8');
    expect(keyOf({ key: '' })).toBe('d6bcec3c6b29d72e');
    expect(keyOf({ scope: 'tenantA', key: 'k1' })).toBe('183cdb33b0428d01');
    expect(keyOf({})).toBe('b8482bbd25b7de4a');
    expect(keyOf({ idempotencyKey: 'ik1' })).toBe(keyOf({}, 242));
  });

  it('makes the known ids of workflow runs', () => {
    const id = (service: string, key: string, scope?: string): string =>
      workflowInvocationId({ service, key, scope }, hashes);
    expect(id('Wf', 'key1')).toBe('inv_1j3OsqQPRzR94LxHSQfLVOYSIgAc8z3Sg4');
    expect(id('Wf', 'w1')).toBe('inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8');
    expect(id('Wf', 'w1', 's1')).toBe('inv_1a1mlWikgvPI3YwPc54r6trJkQiTFOpfSM');
  });

  it('makes the known ids of idempotent calls', () => {
    const greet = { service: 'Greeter', handler: 'greet' };
    const count = { service: 'Greeter', handler: 'count' };
    const add = { service: 'Counter', handler: 'add' };
    const id = (target: Parameters<typeof idempotentInvocationId>[0]): string =>
      idempotentInvocationId(target, hashes);
    expect(id({ ...greet, idempotencyKey: 'ik1' })).toBe('inv_1j9Cg5UTs00I5oCM9njnLbCxIV8dHayQR5');
    expect(id({ ...add, key: 'k1', idempotencyKey: 'ik2' })).toBe(
      'inv_1foAirY4KKzi6xYrXWHEdvkAyVXYdiy1dN',
    );
    expect(id({ ...count, idempotencyKey: 'a1' })).toBe('inv_1kQjM5pwo2915dagbrNb7Q6CTFiYMYnpyP');
    expect(id({ ...count, scope: 's1', idempotencyKey: 'a' })).toBe(
      'inv_1a1mlWikgvPI63siJX2BumFWPFIWrbeem3',
    );
    expect(id({ ...add, key: 'kk', idempotencyKey: 'v1' })).toBe(
      'inv_1cLjQsoOSa8w5BYes2EL5BK5xagloSktxR',
    );
    const scoped = { ...greet, scope: 'tenantA', idempotencyKey: '01M7XB4DKHRFHQE5EZZVNXZCT5' };
    const bytes = invocationIdToBytes(idempotentInvocationId(scoped, hashes));
    expect(toHex(bytes)).toBe('183cdb33b0428d01a468ad0239bce0a3861b17d48788bd3e');
  });

  it('composes an id of a partition key and a ULID', () => {
    const id = composeInvocationId(6091931909762340275n, new Uint8Array(16));
    expect(id).toBe(`inv_1foAirY4KKzi${'0'.repeat(22)}`);
    expect(partitionKeyOf(id)).toBe(6091931909762340275n);
  });
});

describe('resource ids', () => {
  it('has the known texts', () => {
    const ulid = fromHex('01a1faa0c38e1e7e26a258f7267af4f9');
    const id = deploymentIdFromUlid(ulid);
    expect(id).toBe('dp_17BEOzUfxsHZXdlJBa9Xkit');
    expect(deploymentIdToUlid(id)).toEqual(ulid);
    expect(parseDeploymentId(id)).toEqual({ kind: 'ok', id });
    const parsed = parseDeploymentId('dp_111yNZYbf9Urc4I11R3vhi9');
    expect(parsed.kind === 'ok' && ulidTimestampMs(deploymentIdToUlid(parsed.id))).toBe(
      1795204993907,
    );
    const subscription = subscriptionIdFromUlid(ulid);
    expect(subscription).toHaveLength(27);
    expect(parseSubscriptionId(subscription)).toEqual({ kind: 'ok', id: subscription });
    expect(parseSubscriptionId(id).kind).toBe('bad');
  });

  it('puts ULIDs together', () => {
    const random = fromHex('00010203040506070809');
    const bytes = ulidBytes({ timestampMs: 1795204993907, random });
    expect(ulidTimestampMs(bytes)).toBe(1795204993907);
    expect(bytes.subarray(6)).toEqual(random);
    expect(ulidText(bytes)).toHaveLength(26);
    expect(ulidText(fromHex('01563e3ab5d3d6764c61efb99302bd5b'))).toBe(
      '01ARZ3NDEKTSV4RRFFQ69G5FAV',
    );
  });
});

describe('awakeable ids', () => {
  const target = {
    invocationId: invocationIdFromBytes(
      fromHex('35c0343dabacf070e056a631d59860732d91a20b61d8d089'),
    ),
    signalIndex: 17,
  };
  const text = 'sign_1NcA0Paus8HDgVqYx1Zhgcy2Rogth2NCJAAAAEQ';

  it('has the known texts', () => {
    expect(formatAwakeableId(target)).toBe(text);
    expect(parseAwakeableId(text)).toEqual({ kind: 'ok', id: target });
    const other = invocationIdFromBytes(
      fromHex('a6a1b301fc8a5cf3107b60f95b9c6f961e615b3898711e04'),
    );
    expect(formatAwakeableId({ invocationId: other, signalIndex: 17 })).toBe(
      'sign_1pqGzAfyKXPMQe2D5W5xvlh5hWziYcR4EAAAAEQ',
    );
  });

  it('reads the old form and padding', () => {
    expect(parseAwakeableId(`${text}==`)).toEqual({ kind: 'ok', id: target });
    expect(parseAwakeableId(text.replace('sign', 'prom'))).toEqual({ kind: 'ok', id: target });
  });

  it.each([
    ['foo', 'bad format'],
    ['prom_1abc', 'bad length'],
    ['sign_1abc', "id doesn't match the expected type"],
    [text.replace('Q', '!'), "id doesn't match the expected type"],
    [target.invocationId, "id doesn't match the expected type"],
  ])('refuses %s', (bad, reason) => {
    expect(parseAwakeableId(bad)).toEqual({ kind: 'bad', reason });
  });

  it('base64url decode∘encode is the identity', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        expect(decodeBase64Url(encodeBase64Url(bytes))).toEqual(bytes);
        expect(encodeBase64Url(bytes)).toBe(Buffer.from(bytes).toString('base64url'));
      }),
    );
  });
});
