import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { deploymentIdFromUlid, type InvocationId } from '@engine/domain';
import { MemoryMetadataStore } from '@engine/metadata';
import { AdminFixture, type Reply } from '../testing/admin-fixture.js';
import { InvocationWorld, UNKNOWN_ID, worldId } from '../testing/invocation-world.js';

const DEPLOYMENT = deploymentIdFromUlid(new Uint8Array(16).fill(1));
const PROBLEM = { message: expect.any(String), engine_code: null, restate_code: null };
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

let world: InvocationWorld;
let metadata: MemoryMetadataStore;
let admin: AdminFixture;

const startAdmin = (): Promise<AdminFixture> =>
  AdminFixture.start({}, { channel: world, invocations: world, journals: world, metadata });

beforeEach(async () => {
  world = new InvocationWorld();
  metadata = new MemoryMetadataStore();
  admin = await startAdmin();
});

afterEach(() => admin[Symbol.asyncDispose]());

const post = (body: unknown, prefix = ''): Promise<Reply> =>
  admin.ask('POST', `${prefix}/batch-operations`, body);

async function ended({ json }: Reply): Promise<Reply['json']> {
  for (;;) {
    const reply = await admin.ask('GET', `/batch-operations/${String(json['id'])}`);
    if (reply.json['status'] !== 'running') return reply.json;
  }
}

describe('a batch operation', () => {
  it.each(['', '/v2', '/v3', '/v4'])('is begun and read under %j', async (prefix) => {
    for (let number = 1; number <= 120; number += 1) {
      world.add(worldId(number), { status: 'suspended' });
    }
    const reply = await post(
      { operation: 'kill', filter: { service: 'Greeter', status: 'suspended' } },
      prefix,
    );
    const id = String(reply.json['id']);
    expect(reply.status).toBe(202);
    expect(reply.headers.get('location')).toBe(`batch-operations/${id}`);
    expect(reply.json).toMatchObject({ id, status: 'running', ended_at: null });
    await ended(reply);
    expect((await admin.ask('GET', `${prefix}/batch-operations/${id}`)).json).toEqual({
      id: expect.stringMatching(/^batch_[0-9A-Z]{26}$/),
      operation: 'kill',
      filter: { service: 'Greeter', status: ['suspended'] },
      dry_run: false,
      status: 'completed',
      abort_requested: false,
      error: null,
      created_at: TIME,
      ended_at: TIME,
      progress: { scanned: 120, matched: 120, succeeded: 120, failed: 0, skipped: 0 },
      failures: [],
    });
  });

  it('on named invocations lists the failures', async () => {
    world.add(worldId(1), { status: 'completed' });
    const invocationIds = [worldId(1), UNKNOWN_ID, UNKNOWN_ID];
    const body = { operation: 'restart-as-new', invocation_ids: invocationIds, from: 3 };
    const batch = await ended(await post(body));
    expect(batch).toMatchObject({
      from: 3,
      deployment: 'latest',
      invocation_count: 2,
      progress: { matched: 2, succeeded: 1, failed: 1, skipped: 0 },
      failures: [{ invocation_id: UNKNOWN_ID, error: expect.stringContaining('unknown') }],
    });
    expect(world.requests[0]).toMatchObject({ copyUpTo: 3, deployment: { kind: 'latest' } });
  });

  it('as a dry run only counts', async () => {
    world.add(worldId(1), { status: 'invoked' });
    const filter = { created_before: '2999-01-01T00:00:00+02:00' };
    const batch = await ended(await post({ operation: 'cancel', filter, dry_run: true }));
    expect(batch).toMatchObject({
      dry_run: true,
      filter: { created_before: '2998-12-31T22:00:00.000Z' },
      progress: { matched: 1, succeeded: 0 },
    });
    expect(world.requests).toEqual([]);
  });

  it.each([
    [{ operation: 'kill' }, 422],
    [{ operation: 'kill', filter: {} }, 422],
    [{ operation: 'kill', filter: { service: null } }, 422],
    [{ operation: 'kill', filter: { servce: 'Greeter' } }, 422],
    [{ operation: 'kill', filter: { status: 'asleep' } }, 422],
    [{ operation: 'kill', filter: { status: [] } }, 422],
    [{ operation: 'kill', filter: { created_before: 'yesterday' } }, 422],
    [{ operation: 'kill', filter: { deployment_id: 'dp' } }, 422],
    [{ operation: 'kill', filter: { service: 'S' }, invocation_ids: [] }, 422],
    [{ operation: 'kill', invocation_ids: ['foo'] }, 422],
    [{ operation: 'kill', filter: { service: 'S' }, dryrun: true }, 422],
    [{ operation: 'destroy', filter: { service: 'S' } }, 422],
    [{ operation: 'kill', filter: { service: 'S' }, from: 1 }, 422],
    [{ operation: 'kill', filter: { service: 'S' }, deployment: 'latest' }, 422],
    [{ operation: 'restart-as-new', filter: { service: 'S' }, from: -1 }, 422],
    [{ operation: 'resume', filter: { service: 'S' }, deployment: 'foo' }, 400],
    [{ operation: 'resume', filter: { service: 'S' }, deployment: DEPLOYMENT }, 400],
    [
      {
        operation: 'kill',
        invocation_ids: Array.from({ length: 1001 }, (_, number) => worldId(number)),
      },
      400,
    ],
    ['{bad', 400],
  ])('%j is refused with %i', async (body, status) => {
    expect(await post(body)).toMatchObject({ status, json: PROBLEM });
    expect((await admin.ask('GET', '/batch-operations')).json).toEqual({
      batch_operations: [],
      next_cursor: null,
    });
  });

  it('too many at once are refused with 429, until one is aborted', async () => {
    world.add(worldId(1), { status: 'invoked' });
    world.intercept = () => ({ kind: 'unavailable', reason: 'overloaded' });
    const body = { operation: 'kill', filter: { status: ['ready', 'running'] } };
    const replies = await Promise.all(Array.from({ length: 11 }, () => post(body)));
    expect(replies.map(({ status }) => status).sort()).toEqual([
      ...Array<number>(10).fill(202),
      429,
    ]);
    const [first] = replies.filter(({ status }) => status === 202);
    const path = `/batch-operations/${String(first?.json['id'])}/abort`;
    const abort = await admin.ask('PATCH', path);
    expect(abort).toMatchObject({ status: 202, json: { abort_requested: true } });
    if (first !== undefined) expect((await ended(first))['status']).toBe('aborted');
    expect((await admin.ask('PATCH', path)).status).toBe(200);
    expect((await post(body)).status).toBe(202);
  });

  it('that has ended cannot be aborted, and an unknown one neither', async () => {
    const { json } = await post({ operation: 'kill', invocation_ids: [] });
    const id = String(json['id']);
    await ended({ json } as Reply);
    expect(await admin.ask('PATCH', `/batch-operations/${id}/abort`)).toMatchObject({
      status: 409,
      json: PROBLEM,
    });
    for (const [method, path] of [
      ['GET', '/batch-operations/foo'],
      ['PATCH', '/batch-operations/foo/abort'],
    ] as const) {
      expect(await admin.ask(method, path)).toMatchObject({ status: 404, json: PROBLEM });
    }
  });

  it('the list goes page by page, newest first', async () => {
    const ids: string[] = [];
    for (let number = 0; number < 5; number += 1) {
      const reply = await post({ operation: 'kill', invocation_ids: [] });
      ids.push(String(reply.json['id']));
      await ended(reply);
    }
    const newestFirst = [...ids].sort().reverse();
    const seen: unknown[] = [];
    let path = '/batch-operations?limit=2';
    for (let pages = 1; ; pages += 1) {
      const { json } = await admin.ask('GET', path);
      seen.push(...(json['batch_operations'] as { id: string }[]).map(({ id }) => id));
      if (json['next_cursor'] === null) {
        expect(pages).toBe(3);
        break;
      }
      path = `/batch-operations?limit=2&cursor=${String(json['next_cursor'])}`;
    }
    expect(seen).toEqual(newestFirst);
    for (const limit of ['0', 'x']) {
      expect((await admin.ask('GET', `/batch-operations?limit=${limit}`)).status).toBe(400);
    }
  });

  it('goes on after a restart of the admin', async () => {
    const ids: InvocationId[] = [];
    for (let number = 1; number <= 250; number += 1) {
      ids.push(worldId(number));
      world.add(worldId(number), { status: 'invoked' });
    }
    world.intercept = () =>
      world.effects.length < 130 ? undefined : { kind: 'unavailable', reason: 'stopping' };
    const reply = await post({ operation: 'kill', filter: { service: 'Greeter' } });
    while (world.effects.length < 130) await new Promise(setImmediate);
    await admin[Symbol.asyncDispose]();
    world.intercept = () => undefined;
    admin = await startAdmin();
    expect(await ended(reply)).toMatchObject({
      status: 'completed',
      progress: { matched: 250, succeeded: 250, failed: 0, skipped: 0 },
    });
    expect(world.effects).toHaveLength(ids.length);
  });
});
