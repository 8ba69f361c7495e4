import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  deploymentIdFromUlid,
  invocationIdFromBytes,
  partitionKeyOf,
  type InvocationId,
  type OperationOutcome,
} from '@engine/domain';
import { AdminFixture } from '../testing/admin-fixture.js';

const ID = invocationIdFromBytes(new Uint8Array(24).fill(7));
const OTHER = invocationIdFromBytes(new Uint8Array(24).fill(8));
const DEPLOYMENT = deploymentIdFromUlid(new Uint8Array(16).fill(1));
const ULID = expect.stringMatching(/^[0-9A-Z]{26}$/);
const PROBLEM = { message: expect.any(String), engine_code: null, restate_code: null };

let admin: AdminFixture;

beforeEach(async () => {
  admin = await AdminFixture.start();
});

afterEach(() => admin[Symbol.asyncDispose]());

function outcomeIs(outcome: OperationOutcome, id = ID): void {
  admin.outcomes.set(id, { kind: 'operation', outcome });
}

// Operation, outcome at the partition, status. `-`: an answer without a body; `{}`: with the new id; otherwise the error body.
const OUTCOMES: readonly (readonly [string, OperationOutcome, number])[] = [
  ['cancel', 'done', 200],
  ['cancel', 'appended', 202],
  ['cancel', 'already-completed', 409],
  ['cancel', 'not-found', 404],
  ['cancel', 'limit-reached', 429],
  ['kill', 'done', 200],
  ['kill', 'already-completed', 409],
  ['kill', 'not-found', 404],
  ['pause', 'done', 202],
  ['pause', 'appended', 202],
  ['pause', 'unchanged', 200],
  ['pause', 'not-running', 409],
  ['pause', 'not-started', 409],
  ['pause', 'already-completed', 409],
  ['pause', 'not-found', 404],
  ['resume', 'done', 200],
  ['resume', 'unchanged', 200],
  ['resume', 'not-started', 425],
  ['resume', 'already-completed', 409],
  ['resume', 'deployment-not-changeable', 409],
  ['resume', 'deployment-not-found', 400],
  ['resume', 'deployment-incompatible', 400],
  ['resume', 'not-found', 404],
  ['purge', 'done', 200],
  ['purge', 'not-completed', 409],
  ['purge', 'not-found', 404],
  ['purge-journal', 'done', 200],
  ['purge-journal', 'unchanged', 200],
  ['purge-journal', 'not-completed', 409],
  ['purge-journal', 'not-found', 404],
  ['restart-as-new', 'done', 200],
  ['restart-as-new', 'not-started', 425],
  ['restart-as-new', 'still-running', 409],
  ['restart-as-new', 'journal-missing', 410],
  ['restart-as-new', 'workflow-unsupported', 422],
  ['restart-as-new', 'deployment-not-found', 400],
  ['restart-as-new', 'journal-position-invalid', 400],
  ['restart-as-new', 'not-found', 404],
];

describe('an operation on an invocation', () => {
  it.each(OUTCOMES)('%s that is %s gives %i', async (kind, outcome, status) => {
    outcomeIs(outcome);
    for (const prefix of ['', '/v2', '/v3', '/v4']) {
      const reply = await admin.ask('PATCH', `${prefix}/invocations/${ID}/${kind}`);
      expect(reply.status).toBe(status);
      expect(reply.headers.get('retry-after')).toBe(status === 429 ? '1' : null);
      if (status >= 300) expect(reply.json).toEqual(PROBLEM);
      else if (kind !== 'restart-as-new') expect(reply.text).toBe('');
      else expect(reply.json).toEqual({ new_invocation_id: expect.stringMatching(/^inv_1/) });
    }
  });

  it.each(['cancel', 'kill', 'pause', 'purge', 'purge-journal'])(
    '%s is asked once',
    async (kind) => {
      outcomeIs('done');
      await admin.ask('PATCH', `/invocations/${ID}/${kind}?deployment=latest&other=1`);
      expect(admin.operations).toEqual([{ kind, requestId: ULID, invocationId: ID }]);
    },
  );

  it.each([
    ['', { kind: 'keep' }],
    ['?deployment=Keep', { kind: 'keep' }],
    ['?deployment=latest', { kind: 'latest' }],
    ['?deployment=Latest', { kind: 'latest' }],
    [`?deployment=${DEPLOYMENT}`, { kind: 'fixed', deploymentId: DEPLOYMENT }],
  ])('resume%s goes on at %j', async (query, deployment) => {
    outcomeIs('done');
    expect((await admin.ask('PATCH', `/invocations/${ID}/resume${query}`)).status).toBe(200);
    const base = { requestId: ULID, invocationId: ID };
    expect(admin.operations).toEqual([{ kind: 'resume', ...base, deployment }]);
  });

  it.each([
    ['', 0, { kind: 'latest' }],
    ['?from=0', 0, { kind: 'latest' }],
    ['?from=4294967295', 4_294_967_295, { kind: 'latest' }],
    ['?from=3&deployment=keep', 3, { kind: 'keep' }],
    [`?deployment=${DEPLOYMENT}`, 0, { kind: 'fixed', deploymentId: DEPLOYMENT }],
  ])('restart-as-new%s takes entries up to %i', async (query, copyUpTo, deployment) => {
    outcomeIs('done');
    const reply = await admin.ask('PATCH', `/invocations/${ID}/restart-as-new${query}`);
    const newInvocationId = reply.json['new_invocation_id'] as InvocationId;
    const base = { requestId: ULID, invocationId: ID, newInvocationId };
    expect(admin.operations).toEqual([{ kind: 'restart-as-new', ...base, copyUpTo, deployment }]);
    expect(partitionKeyOf(newInvocationId)).toBe(partitionKeyOf(ID));
    expect(newInvocationId).not.toBe(ID);
  });

  it.each([
    ['foo/cancel'],
    ['foo/purge'],
    [`${ID}/resume?deployment=foo`],
    [`${ID}/resume?deployment=LATEST`],
    [`${ID}/resume?deployment=`],
    [`${ID}/resume?deployment=keep&deployment=latest`],
    [`${ID}/restart-as-new?deployment=inv_1`],
    [`${ID}/restart-as-new?from=abc`],
    [`${ID}/restart-as-new?from=`],
    [`${ID}/restart-as-new?from=-1`],
    [`${ID}/restart-as-new?from=1.5`],
    [`${ID}/restart-as-new?from=4294967296`],
    [`${ID}/restart-as-new?from=1&from=2`],
  ])('%s is refused before anything is asked', async (path) => {
    const reply = await admin.ask('PATCH', `/invocations/${path}`);
    expect(reply).toMatchObject({ status: 400, json: PROBLEM });
    expect(admin.operations).toEqual([]);
  });

  it.each([
    ['stopping', 503, 'unavailable', 'takes no work now'],
    ['not-leader', 503, 'unavailable', 'takes no work now'],
    ['disconnected', 503, 'unavailable', 'no leader of the partition could be reached in time'],
    ['overloaded', 429, 'overloaded', 'takes no more work now'],
  ] as const)(
    'a partition that is %s: %i, and when to try again',
    async (reason, status, code, text) => {
      admin.outcomes.set(ID, { kind: 'unavailable', reason });
      const reply = await admin.ask('PATCH', `/invocations/${ID}/restart-as-new`);
      expect(reply).toMatchObject({
        status,
        json: { message: expect.stringContaining(text), engine_code: code, restate_code: null },
      });
      expect(reply.headers.get('retry-after')).toBe('1');
    },
  );

  it('tells of a refusal what to do', async () => {
    outcomeIs('not-completed');
    const { json } = await admin.ask('PATCH', `/invocations/${ID}/purge`);
    expect(json['message']).toBe(
      `invocation '${ID}' is not completed yet; wait for its end, or cancel or kill it first`,
    );
  });

  it.each([
    ['', 'cancel'],
    ['?mode=Cancel', 'cancel'],
    ['?mode=kill', 'kill'],
    ['?mode=Purge', 'purge'],
  ])('DELETE%s is %s, with 202 whatever the outcome', async (query, kind) => {
    outcomeIs('already-completed');
    for (const id of [ID, OTHER]) {
      expect(await admin.ask('DELETE', `/invocations/${id}${query}`)).toMatchObject({
        status: 202,
        text: '',
      });
    }
    expect(admin.operations.map((request) => request.kind)).toEqual([kind, kind]);
  });
});

describe('an operation on a list of invocations', () => {
  const batch = (kind: string, body: unknown): ReturnType<AdminFixture['ask']> =>
    admin.ask('POST', `/internal/invocations_batch_operations/${kind}`, body);

  it.each(['cancel', 'kill', 'pause', 'resume', 'purge', 'purge-journal'])(
    '%s tells which succeeded and why others failed',
    async (kind) => {
      outcomeIs('done');
      const { status, json } = await batch(kind, { invocation_ids: [ID, OTHER, ID] });
      expect(status).toBe(200);
      expect(json).toEqual({
        succeeded: [ID, ID],
        failed: [{ invocation_id: OTHER, error: expect.stringContaining('unknown') }],
      });
      expect(admin.operations).toHaveLength(3);
    },
  );

  it('restart-as-new tells the new ids', async () => {
    outcomeIs('done');
    const { json } = await batch('restart-as-new', { invocation_ids: [ID] });
    const [request] = admin.operations;
    expect(json).toEqual({
      succeeded: [
        {
          old_invocation_id: ID,
          new_invocation_id: request?.kind === 'restart-as-new' && request.newInvocationId,
        },
      ],
      failed: [],
    });
  });

  it.each([
    ['resume', undefined, { kind: 'keep' }],
    ['resume', null, { kind: 'keep' }],
    ['resume', 'Latest', { kind: 'latest' }],
    ['restart-as-new', undefined, { kind: 'latest' }],
    ['restart-as-new', 'keep', { kind: 'keep' }],
    ['restart-as-new', DEPLOYMENT, { kind: 'fixed', deploymentId: DEPLOYMENT }],
  ])('%s with deployment %j goes on at %j', async (kind, given, deployment) => {
    outcomeIs('done');
    await batch(kind, { invocation_ids: [ID], deployment: given });
    expect(admin.operations).toMatchObject([{ kind, deployment }]);
  });

  it('a partition that takes no work is told like any failure', async () => {
    admin.outcomes.set(ID, { kind: 'unavailable', reason: 'stopping' });
    const { status, json } = await batch('kill', { invocation_ids: [ID] });
    expect(status).toBe(200);
    expect(json).toEqual({
      succeeded: [],
      failed: [{ invocation_id: ID, error: expect.stringContaining('takes no work') }],
    });
  });

  it.each([
    ['kill', { invocation_ids: new Array<string>(1001).fill(ID) }, 400],
    ['resume', { invocation_ids: [ID], deployment: 'foo' }, 400],
    ['resume', { invocation_ids: [ID], deployment: 5 }, 422],
    ['kill', { invocation_ids: ['foo'] }, 422],
    ['kill', { invocation_ids: ID }, 422],
    ['kill', {}, 422],
    ['kill', '{bad', 400],
    ['destroy', { invocation_ids: [] }, 404],
  ])('%s %j is refused with %i', async (kind, body, status) => {
    expect(await batch(kind, body)).toMatchObject({ status, json: PROBLEM });
    expect(admin.operations).toEqual([]);
  });

  it('an empty list is done, and so are 1000', async () => {
    expect((await batch('kill', { invocation_ids: [] })).json).toEqual({
      succeeded: [],
      failed: [],
    });
    outcomeIs('done');
    const { json } = await batch('kill', { invocation_ids: new Array<string>(1000).fill(ID) });
    expect(json['succeeded']).toHaveLength(1000);
  });
});
