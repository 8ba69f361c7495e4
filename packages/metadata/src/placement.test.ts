import { describe, expect, it } from '@jest/globals';
import {
  NO_ORDERS,
  type ClusterNode,
  type NodeId,
  type PartitionTable,
  type PlacementOrders,
} from '@engine/domain';
import { decodeUtf8, encodeUtf8 } from '@engine/stdx';

import { decodeNode, encodeNode, nodeDocument } from './documents/node.js';
import {
  decodePartitionTable,
  decodePlacementOrders,
  encodePartitionTable,
  encodePlacementOrders,
} from './documents/partition-table.js';

const A = 'worker-a' as NodeId;
const B = 'worker-b' as NodeId;

const NODE: ClusterNode = {
  id: A,
  incarnation: 3,
  roles: ['worker', 'admin'],
  addresses: { internal: '10.0.0.1:5122', ingress: undefined, admin: '10.0.0.1:9070' },
  zone: 'z1',
  binaryVersion: '0.1.0',
  formats: { min: 1, max: 2 },
  isLeaving: false,
};

const TABLE: PartitionTable = {
  version: 7,
  partitions: [
    { leader: A, epoch: 2n ** 63n - 1n, standbys: [B], predecessors: [B] },
    { leader: undefined, epoch: 0n, standbys: [], predecessors: [] },
  ],
};

const ORDERS: PlacementOrders = {
  drained: [B],
  pins: [{ partition: 1, node: A }],
  isFrozen: true,
};

/** Every document that one cut or one changed byte makes of `bytes` is read or refused with META0005 or META0010. */
function expectDamageIsTold(bytes: Uint8Array, decode: (bytes: Uint8Array) => unknown): void {
  const codes = new Set<unknown>();
  const attempt = (damaged: Uint8Array): void => {
    try {
      decode(damaged);
    } catch (error) {
      codes.add((error as { code?: unknown }).code);
    }
  };
  for (let at = 0; at < bytes.length; at += 1) {
    attempt(bytes.subarray(0, at));
    for (const flip of [0x01, 0x10, 0x80]) {
      const damaged = bytes.slice();
      damaged[at] = (damaged[at] ?? 0) ^ flip;
      attempt(damaged);
    }
  }
  expect([...codes].filter((code) => code !== 'META0005' && code !== 'META0010')).toEqual([]);
  expect(codes.has('META0005')).toBe(true);
}

interface Case {
  readonly bytes: Uint8Array;
  readonly decode: (bytes: Uint8Array) => unknown;
  readonly value: unknown;
}

const DOCUMENTS: readonly (readonly [string, Case])[] = [
  ['a node', { bytes: encodeNode(NODE), decode: decodeNode, value: NODE }],
  ['the table', { bytes: encodePartitionTable(TABLE), decode: decodePartitionTable, value: TABLE }],
  [
    'orders',
    { bytes: encodePlacementOrders(ORDERS), decode: decodePlacementOrders, value: ORDERS },
  ],
  [
    'no orders',
    { bytes: encodePlacementOrders(NO_ORDERS), decode: decodePlacementOrders, value: NO_ORDERS },
  ],
];

describe.each(DOCUMENTS)('the document of %s', (_name, { bytes, decode, value }) => {
  it('comes back as it was written', () => {
    expect(decode(bytes)).toEqual(value);
  });

  it('is refused when damaged', () => {
    expectDamageIsTold(bytes, decode);
  });

  it('is refused as newer when a newer server wrote it', () => {
    const newer = encodeUtf8(decodeUtf8(bytes).replace('"version":1', '"version":2,"more":1'));
    expect(() => decode(newer)).toThrow(expect.objectContaining({ code: 'META0010' }));
  });
});

describe('documents that make no sense', () => {
  const META0005 = expect.objectContaining({ code: 'META0005' });
  const [led] = TABLE.partitions;

  it.each([
    ['an id that could be two parts of a key', { ...NODE, id: 'a.b' as NodeId }],
    ['no role', { ...NODE, roles: [] }],
    ['formats upside down', { ...NODE, formats: { min: 2, max: 1 } }],
  ])('a node with %s is not written', (_what, node) => {
    expect(() => encodeNode(node)).toThrow(META0005);
  });

  it.each([
    ['a leader without an epoch', { ...led, epoch: 0n }],
    ['an epoch without a leader', { ...led, leader: undefined }],
    ['a leader that is its own standby', { ...led, standbys: [A] }],
    ['a standby twice', { ...led, standbys: [B, B] }],
    ['an epoch beyond 63 bits', { ...led, epoch: 2n ** 63n }],
  ])('a table with %s is not written', (_what, partition) => {
    const table = { version: 1, partitions: [partition] } as PartitionTable;
    expect(() => encodePartitionTable(table)).toThrow(META0005);
  });

  it('names the document of a node by its id', () => {
    expect(nodeDocument(A)).toBe('node/worker-a');
  });
});
