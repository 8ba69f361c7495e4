import { request as requestHttp } from 'node:http';
import { until } from '@engine/rpc/contract';
import {
  formatAwakeableId,
  loadHashes,
  workflowInvocationId,
  type InvocationId,
} from '@engine/domain';
import { afterEach, describe, expect, it } from '@jest/globals';
import { TestCluster, type Place } from '../contract/test-cluster.js';
import { ask, type Answer, type Question } from './test-fixture.js';

const LONG_MS = 10_000;
const SHORT_MS = 60;
const JSON_BODY = [['content-type', 'application/json']] as const;
const hashes = loadHashes();

let cluster: TestCluster;
afterEach(async () => {
  await cluster[Symbol.asyncDispose]();
});

/** How a leader is lost, and what is then known of it. */
const LOSSES: readonly (readonly [string, (place: Place) => void])[] = [
  [
    'steps down',
    ({ member }) => {
      member.stepDown();
    },
  ],
  [
    'is killed',
    ({ node, line }) => {
      line.isRefusing = true;
      line.cut();
      node.server.kill();
    },
  ],
  [
    'freezes',
    ({ line }) => {
      line.freeze();
    },
  ],
];

const post = (path: string, body = '"x"', more: Question['headers'] = []): Promise<Answer> =>
  ask(cluster.ingress.port, { method: 'POST', path, headers: [...JSON_BODY, ...more], body });
const get = (path: string): Promise<Answer> => ask(cluster.ingress.port, { path });
const idOf = (answer: Answer): InvocationId =>
  (JSON.parse(answer.text) as { invocationId: InvocationId }).invocationId;
const onlyOnce = (list: readonly string[]): void => {
  expect(list).toHaveLength(new Set(list).size);
};

describe('a caller does not see that the leader', () => {
  it.each(LOSSES)('%s', async (_name, lose) => {
    cluster = await TestCluster.start(LONG_MS);
    const { first, second, decided } = cluster;
    cluster.lead(first);
    const running = idOf(await post('/engine/send/Counter/k1/add'));
    const flow = workflowInvocationId({ service: 'Flow', key: 'f1' }, await hashes);
    expect(idOf(await post('/engine/send/Flow/f1/run'))).toBe(flow);
    const ended = idOf(await post('/engine/send/Greeter/greet'));
    cluster.end(ended, '"over"');
    const before = first.member.asked.length;
    const waiting = [
      post('/engine/call/Greeter/greet', '"call"', [['idempotency-key', 'i1']]),
      get(`/engine/attach/${running}`),
      get('/restate/workflow/Flow/f1/attach'),
      post(
        '/engine/attach',
        JSON.stringify({ target: 'workflow', workflowName: 'Flow', workflowKey: 'f1' }),
      ),
    ];
    await until('they have come', () => first.member.asked.length === before + waiting.length);

    lose(first);
    const awakeable = formatAwakeableId({ invocationId: running, signalIndex: 17 });
    const during = [
      post('/engine/send/Counter/k2/add'),
      post(`/engine/awakeables/${awakeable}/resolve`, '"done"'),
      get(`/engine/output/${ended}`),
      get(`/engine/output/${running}`),
      post('/engine/send/Greeter/greet', '"again"', [['idempotency-key', 'i1']]),
    ];
    await until('they wait', () => cluster.router.openCount === waiting.length + during.length);
    cluster.lead(second);
    const [send, resolve, output, early, repeated] = await Promise.all(during);
    expect(send).toMatchObject({ status: 202, text: expect.stringContaining('"Accepted"') });
    expect(resolve).toMatchObject({ status: 202 });
    expect(output).toMatchObject({ status: 200, text: '"over"' });
    expect(early).toMatchObject({ status: 470 });
    expect(repeated).toMatchObject({
      status: 202,
      text: expect.stringContaining('"PreviouslyAccepted"'),
    });

    const called = repeated === undefined ? running : idOf(repeated);
    await until(
      'they have come again',
      () => second.member.asked.length >= waiting.length + during.length,
    );
    for (const id of [running, flow, called]) cluster.end(id, `"${id}"`);
    const answers = await Promise.all(waiting);
    expect(answers.map(({ status, text }) => [status, text])).toEqual(
      [called, running, flow, flow].map((id) => [200, `"${id}"`]),
    );
    onlyOnce(decided.effects);
    // Three sends, the call, the send meanwhile, and the awakeable.
    expect(decided.effects).toHaveLength(6);
    expect(cluster.router.openCount).toBe(0);
  });

  it('has decided before it was lost: one effect, and the same answer', async () => {
    cluster = await TestCluster.start(LONG_MS);
    const { first, second, decided } = cluster;
    cluster.lead(first);
    first.member.isMute = true;
    const awakeable = formatAwakeableId({
      invocationId: workflowInvocationId({ service: 'Flow', key: 'f1' }, await hashes),
      signalIndex: 17,
    });
    const asked = [
      post('/engine/send/Counter/k/add'),
      post('/engine/send/Flow/f1/run'),
      post('/engine/send/Greeter/greet', '"x"', [['idempotency-key', 'i1']]),
      post(`/engine/awakeables/${awakeable}/resolve`),
    ];
    await until('all is decided', () => decided.effects.length === asked.length);
    first.line.freeze();
    cluster.lead(second);
    for (const answer of (await Promise.all(asked)).slice(0, 3)) {
      expect(answer).toMatchObject({ status: 202, text: expect.stringContaining('"Accepted"') });
    }
    expect(second.member.asked).toHaveLength(asked.length);
    expect(decided.effects).toHaveLength(asked.length);
  });

  it('changes again and again under load', async () => {
    cluster = await TestCluster.start(LONG_MS);
    const { first, second, decided } = cluster;
    cluster.lead(first);
    const answers: Answer[] = [];
    const callers = Array.from({ length: 8 }, async (_, caller) => {
      for (let count = 0; count < 25; count += 1) {
        answers.push(await post(`/engine/send/Counter/${String(caller)}/add`));
      }
    });
    const all = Promise.all(callers);
    for (let change = 0; answers.length < 8 * 25; change += 1) {
      const seen = answers.length;
      const [old, next] = change % 2 === 0 ? [first, second] : [second, first];
      if (change % 3 === 0) old.line.cut();
      if (change % 3 === 1) cluster.leadNobody();
      cluster.lead(next);
      await until('some are answered', () => answers.length > seen || answers.length === 8 * 25);
    }
    await all;
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(answers.every(({ text }) => text.includes('"Accepted"'))).toBe(true);
    expect(decided.effects).toHaveLength(8 * 25);
    expect(decided.invocations.size).toBe(8 * 25);
  });
});

describe('a caller is told', () => {
  const ID = 'inv_126gymxHhc5q4YJr3L8oWAw7oUjdHHIsNv';

  it.each([
    ['POST', '/engine/call/Greeter/greet', 'idempotency key'],
    ['POST', '/engine/send/Counter/k/add', 'idempotency key'],
    ['GET', `/engine/attach/${ID}`, 'sent again safely'],
    ['GET', `/engine/output/${ID}`, 'sent again safely'],
    [
      'POST',
      '/engine/awakeables/sign_1NcA0Paus8HDgVqYx1Zhgcy2Rogth2NCJAAAAEQ/resolve',
      'first completion wins',
    ],
  ])('when nobody leads in time: %s %s', async (method, path, advice) => {
    cluster = await TestCluster.start(SHORT_MS);
    const answer = await (method === 'GET' ? get(path) : post(path));
    expect(answer).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1', 'x-engine-error-source': 'ingress' },
    });
    expect(JSON.parse(answer.text)).toEqual({
      code: 503,
      message: expect.stringMatching(
        `^internal routing error: no leader of the partition could be reached in time\\. .*${advice}`,
      ),
      source: 'ingress',
    });
    expect(cluster.router.openCount).toBe(0);
  });

  it('when the leader takes no more work', async () => {
    cluster = await TestCluster.start(LONG_MS);
    cluster.lead(cluster.first);
    cluster.first.member.isFull = true;
    for (const answer of [
      await post('/engine/call/Greeter/greet'),
      await post('/engine/send/Greeter/greet'),
      await get(`/engine/attach/${ID}`),
    ]) {
      expect(answer).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
    }
    expect(cluster.decided.effects).toEqual([]);
  });
});

describe('a caller that leaves', () => {
  /** Asks, and hangs up once `isSo`. */
  async function hangUpOnce(
    question: { readonly method: string; readonly path: string },
    isSo: () => boolean,
  ) {
    const { port } = cluster.ingress;
    const request = requestHttp({ host: '127.0.0.1', port, agent: false, ...question });
    request.on('error', () => undefined);
    request.end();
    await until('it has come so far', isSo);
    request.destroy();
  }

  it.each([
    ['POST', '/engine/call/Greeter/greet'],
    ['GET', '/restate/workflow/Flow/f1/attach'],
  ])('while it waits for a leader is forgotten: %s %s', async (method, path) => {
    cluster = await TestCluster.start(LONG_MS);
    await hangUpOnce({ method, path }, () => cluster.router.parkedCount === 1);
    await until('it is forgotten', () => cluster.router.openCount === 0);
    cluster.lead(cluster.first);
    expect((await post('/engine/send/Greeter/greet')).status).toBe(202);
    expect(cluster.first.member.asked).toHaveLength(1);
  });

  it('while the leader works on it is called back there', async () => {
    cluster = await TestCluster.start(LONG_MS);
    cluster.lead(cluster.first);
    const { asked } = cluster.first.member;
    await hangUpOnce(
      { method: 'POST', path: '/engine/call/Greeter/greet' },
      () => asked.length === 1,
    );
    await until('the worker knows', () => asked[0]?.isWithdrawn === true);
    expect(cluster.router.openCount).toBe(0);
    expect(cluster.decided.effects).toHaveLength(1);
  });
});
