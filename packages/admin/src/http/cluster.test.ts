import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parseNodeId, type NodeId } from '@engine/domain';
import type { z } from 'zod';

import { LoneNode } from '../cluster/lone-node.js';
import { clusterShape, ordersShape } from '../openapi/shapes.js';
import { AdminFixture, problem } from '../testing/admin-fixture.js';
import { ControlledCluster, type ControlledAdmin } from '../../contract/controlled-cluster.js';

let cluster: ControlledCluster;
let controlled: ControlledAdmin;
let admin: AdminFixture;

beforeEach(async () => {
  cluster = await ControlledCluster.open();
  controlled = await cluster.addAdmin('a1');
  for (const id of ['w1', 'w2', 'w3']) await cluster.addWorker(id);
  await cluster.time.pass(10_000);
  admin = await AdminFixture.start({}, { cluster: controlled.cluster });
});

afterEach(() => admin[Symbol.asyncDispose]());

function expectShape(json: unknown, shape: z.ZodType): void {
  expect(shape.parse(json)).toEqual(json);
}

describe('GET /cluster', () => {
  it.each(['', '/v2'])('shows the cluster (%s)', async (prefix) => {
    const { status, json } = await admin.ask('GET', `${prefix}/cluster`);
    expect(status).toBe(200);
    expectShape(json, clusterShape);
    expect(json).toMatchObject({
      cluster_name: 'c',
      is_cluster: true,
      controller: 'a1',
      orders: { drained: [], pins: [], is_frozen: false },
    });
    expect(json['nodes']).toContainEqual({
      id: 'w1',
      incarnation: 1,
      roles: ['worker'],
      addresses: { internal: 'w1:5122', ingress: null, admin: null },
      zone: null,
      version: '0.1.0',
      liveness: 'alive',
      is_leaving: false,
      is_drained: false,
      leads: cluster.leads('w1'),
      follows: expect.any(Number),
    });
    expect(json['partitions']).toContainEqual(
      expect.objectContaining({ id: 7, epoch: expect.stringMatching(/^\d+$/) }),
    );
  });
});

describe('orders', () => {
  it.each([
    ['POST', '/cluster/nodes/w1/drain', undefined, { drained: ['w1'] }],
    ['POST', '/cluster/nodes/w1/undrain', undefined, { drained: [] }],
    [
      'POST',
      '/cluster/partitions/3/move',
      { node: 'w2' },
      { pins: [{ partition: 3, node: 'w2' }] },
    ],
    ['DELETE', '/cluster/partitions/3/pin', undefined, { pins: [] }],
    ['POST', '/cluster/freeze', undefined, { is_frozen: true }],
    ['POST', '/cluster/unfreeze', undefined, { is_frozen: false }],
  ])('%s %s', async (method, path, body, orders) => {
    const reply = await admin.ask(method, path, body);
    expect(reply.status).toBe(200);
    expectShape(reply.json, ordersShape);
    expect(reply.json).toMatchObject(orders);
    expect((await admin.ask('GET', '/cluster')).json['orders']).toEqual(reply.json);
  });

  it.each([
    ['POST', '/cluster/nodes/w9/drain', undefined, 404],
    ['POST', '/cluster/nodes/a1/drain', undefined, 409],
    ['POST', '/cluster/partitions/99/move', { node: 'w1' }, 404],
    ['POST', '/cluster/partitions/three/move', { node: 'w1' }, 400],
    ['POST', '/cluster/partitions/3/move', { to: 'w1' }, 422],
    ['POST', '/cluster/partitions/3/move', undefined, 415],
    ['DELETE', '/cluster/partitions/99/pin', undefined, 404],
    ['DELETE', '/cluster/freeze', undefined, 405],
  ])('%s %s %j is refused with %i', async (method, path, body, status) => {
    const reply = await admin.ask(method, path, body);
    expect(reply.status).toBe(status);
    expect(reply.json).toEqual(problem(null));
  });

  it('answer 503 when the metadata store is away', async () => {
    controlled.node.store.fault = 'refusing';
    expect((await admin.ask('POST', '/cluster/freeze')).status).toBe(503);
  });
});

describe('one process with all roles', () => {
  it('shows itself, and has nowhere to move anything', async () => {
    await using alone = await AdminFixture.start(
      {},
      {
        cluster: new LoneNode({
          id: parseNodeId('here') as NodeId,
          clusterName: 'c',
          partitionCount: 2,
          binaryVersion: '0.1.0',
          addresses: { internal: '', ingress: '127.0.0.1:8080', admin: undefined },
        }),
      },
    );
    const { json } = await alone.ask('GET', '/cluster');
    expectShape(json, clusterShape);
    expect(json).toMatchObject({
      is_cluster: false,
      nodes: [{ id: 'here', liveness: 'alive', leads: 2 }],
      partitions: [{ leader: 'here' }, { leader: 'here' }],
    });
    for (const path of ['/cluster/freeze', '/cluster/nodes/here/drain']) {
      const reply = await alone.ask('POST', path);
      expect(reply.status).toBe(409);
      expect(reply.json['message']).toMatch(/one process/);
    }
  });

  it('is what an admin shows that was told nothing else', async () => {
    await using alone = await AdminFixture.start();
    expectShape((await alone.ask('GET', '/cluster')).json, clusterShape);
  });
});
