import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { systemScheduler, type Scheduler } from '@engine/runtime';

import { readClusterArguments } from './arguments.js';
import { runClusterCommand } from './run.js';

const ORDERS = { drained: ['w2'], pins: [{ partition: 1, node: 'w1' }], is_frozen: false };

function node(id: string, more: object = {}): object {
  return {
    id,
    incarnation: 1,
    roles: ['worker'],
    addresses: { internal: `${id}:5122`, ingress: null, admin: null },
    zone: null,
    version: '0.1.0',
    liveness: 'alive',
    is_leaving: false,
    is_drained: false,
    leads: 1,
    follows: 1,
    ...more,
  };
}

function replica(id: string, more: object = {}): object {
  return {
    node: id,
    phase: 'follower',
    epoch: '2',
    log_epoch: '2',
    applied: '90',
    lag: '10',
    is_caught_up: true,
    is_stuck: false,
    fault: null,
    ...more,
  };
}

const CLUSTER = {
  cluster_name: 'c',
  is_cluster: true,
  answered_by: 'a1',
  controller: 'a1',
  format_version: 1,
  table_version: 4,
  orders: ORDERS,
  alarms: [{ kind: 'stuck', message: 'partition 1 on w1: its appends are not acknowledged' }],
  nodes: [
    node('a1', { roles: ['admin', 'ingress'], leads: 0, follows: 0 }),
    node('w1', { zone: 'eu-1', leads: 2, follows: 0 }),
    node('w2', { liveness: 'gone', is_drained: true, leads: 0, follows: 1 }),
  ],
  partitions: [
    {
      id: 0,
      leader: 'w1',
      epoch: '2',
      standbys: ['w2'],
      pinned_to: null,
      replicas: [replica('w1', { phase: 'leader', applied: '100', lag: '0' })],
    },
    {
      id: 1,
      leader: 'w1',
      epoch: '5',
      standbys: ['w3'],
      pinned_to: 'w1',
      replicas: [
        replica('w1', { phase: 'leader', applied: '100', lag: '0', is_stuck: true }),
        replica('w3', { is_caught_up: false }),
        replica('w2', { phase: 'quarantined', fault: 'ahead' }),
      ],
    },
  ],
};

const STATUS = `cluster c
controller a1; table 4; format 1
drained: w2; partition 1 pinned to w1
ALARM partition 1 on w1: its appends are not acknowledged

NODE  ROLES          STATE          ZONE  ADDRESS  VERSION  LEADS  FOLLOWS
a1    admin,ingress  alive          -     a1:5122  0.1.0        -        -
w1    worker         alive          eu-1  w1:5122  0.1.0        2        0
w2    worker         gone, drained  -     w2:5122  0.1.0        0        1

PARTITION  LEADER       EPOCH  PHASE           APPLIED  OTHERS
        0  w1               2  leader              100  w2 (says nothing)
        1  w1 (pinned)      5  leader (stuck)      100  w3 filling lag 10, w2 quarantined lag 10 (ahead)
`;

/** An admin that gives answers out of a list, the last one again and again. */
class ScriptedAdmin {
  readonly asked: string[] = [];
  answers: { readonly status?: number; readonly body: unknown }[] = [];
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        this.asked.push(`${request.method ?? ''} ${request.url ?? ''} ${body}`.trim());
        const answer = this.answers.length > 1 ? this.answers.shift() : this.answers[0];
        response.statusCode = answer?.status ?? 200;
        response.end(JSON.stringify(answer?.body));
      });
    });
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${String(port)}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

const HURRIED: Scheduler = {
  immediate: systemScheduler.immediate,
  after: (_ms, fn) => systemScheduler.after(0, fn),
};

let admin: ScriptedAdmin;

beforeEach(async () => {
  admin = new ScriptedAdmin();
  await admin.start();
});

afterEach(() => admin.stop());

async function run(...args: string[]): Promise<{ status: number; out: string; err: string }> {
  const asked = readClusterArguments([...args, '--admin-url', admin.url]);
  if (asked.kind !== 'cluster') throw new Error('the test is wrong');
  let [out, err] = ['', ''];
  const status = await runClusterCommand(asked, {
    scheduler: HURRIED,
    print: (text) => (out += `${text}\n`),
    complain: (text) => (err += `${text}\n`),
  });
  return { status, out, err };
}

describe('engine cluster status', () => {
  it('shows nodes and partitions as tables', async () => {
    admin.answers = [{ body: CLUSTER }];
    expect(await run('status')).toEqual({ status: 0, out: STATUS, err: '' });
  });

  it('gives the answer as it is to programs', async () => {
    admin.answers = [{ body: CLUSTER }];
    const { out } = await run('status', '--json');
    expect(JSON.parse(out)).toEqual(CLUSTER);
  });

  it('says in words that nobody answers', async () => {
    const asked = readClusterArguments(['status', '--admin-url', 'http://127.0.0.1:1']);
    if (asked.kind !== 'cluster') throw new Error('the test is wrong');
    let said = '';
    const outputs = { print: () => undefined, complain: (text: string) => (said += text) };
    expect(await runClusterCommand(asked, { ...outputs, scheduler: HURRIED })).toBe(1);
    expect(said).toMatch(/^no admin answers at http:\/\/127\.0\.0\.1:1 \(.+\); --admin-url says/);
  });

  it('says so when something else answers', async () => {
    admin.answers = [{ body: { hello: 'world' } }];
    const { status, err } = await run('status');
    expect([status, err]).toEqual([1, expect.stringContaining('is no admin of a fitting version')]);
  });
});

describe('orders', () => {
  it.each([
    [
      ['move', '1', 'w1'],
      'POST /cluster/partitions/1/move {"node":"w1"}',
      'Partition 1 goes to w1',
    ],
    [['unpin', '1'], 'DELETE /cluster/partitions/1/pin', 'Placement chooses'],
    [['drain', 'w2'], 'POST /cluster/nodes/w2/drain', 'moved away from w2'],
    [['undrain', 'w2'], 'POST /cluster/nodes/w2/undrain', 'w2 leads and follows again'],
    [['freeze'], 'POST /cluster/freeze', 'Nothing moves'],
    [['unfreeze'], 'POST /cluster/unfreeze', 'moves partitions again'],
  ])('%j', async (args, asked, said) => {
    admin.answers = [{ body: ORDERS }];
    const { status, out } = await run(...args);
    expect(status).toBe(0);
    expect(admin.asked).toEqual([asked]);
    expect(out).toContain(said);
    expect(out).toContain('In force now: drained: w2; partition 1 pinned to w1.');
  });

  it('that are refused end with the reason and 1', async () => {
    admin.answers = [{ status: 404, body: { message: "there is no node 'w9' in the cluster" } }];
    expect(await run('drain', 'w9')).toEqual({
      status: 1,
      out: '',
      err: "there is no node 'w9' in the cluster\n",
    });
  });

  it('can be waited for', async () => {
    const drained = (leads: number) => ({
      body: { ...CLUSTER, nodes: [node('w2', { leads, follows: 0 })] },
    });
    admin.answers = [{ body: ORDERS }, drained(2), drained(2), drained(1), drained(0)];
    const { status, out } = await run('drain', 'w2', '--wait');
    expect(status).toBe(0);
    expect(out.split('\n').slice(2)).toEqual([
      'w2 still leads 2 and follows 0.',
      'w2 still leads 1 and follows 0.',
      'Done.',
      '',
    ]);
    admin.answers = [{ body: ORDERS }, { body: CLUSTER }];
    expect((await run('move', '1', 'w1', '--wait')).out).toMatch(/Done\.\n$/);
  });
});
