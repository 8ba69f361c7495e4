import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { loadHashes, type DeploymentId, type Hashes, type InvocationId } from '@engine/domain';
import {
  batchOperationDocument,
  MemoryMetadataStore,
  type BatchOperation,
  type BatchSelection,
} from '@engine/metadata';
import { createUlidFactory, seededRandom } from '@engine/runtime';
import { InvocationOperations, type Operation } from '../invocation-operations.js';
import { BATCH_KEPT_MAX, BATCH_KEPT_MS_MAX, BATCH_RUNNING_MAX } from '../limits.js';
import { HURRIED } from '../testing/hurried.js';
import { IRREVOCABLE } from '@engine/wire';
import { InvocationWorld, UNKNOWN_ID, worldId } from '../testing/invocation-world.js';
import type { BatchOperations } from './batch-operations.js';
import { createBatchOperations } from './create.js';

const NO_FILTER = {
  service: undefined,
  handler: undefined,
  key: undefined,
  statuses: undefined,
  result: undefined,
  deploymentId: undefined,
  createdAfter: undefined,
  createdBefore: undefined,
};
const ALL: BatchSelection = { kind: 'filter', filter: NO_FILTER };
const CANCEL: Operation = { kind: 'cancel' };
const KILL: Operation = { kind: 'kill' };
const RESTART: Operation = {
  kind: 'restart-as-new',
  copyUpTo: 0,
  deployment: { kind: 'latest' },
};

let hashes: Hashes;
let world: InvocationWorld;
let metadata: MemoryMetadataStore;
let now = 1_000_000;
let admins: BatchOperations[];

beforeEach(async () => {
  hashes = await loadHashes();
  world = new InvocationWorld();
  metadata = new MemoryMetadataStore();
  now = 1_000_000;
  admins = [];
});

afterEach(async () => {
  await Promise.all(admins.map((admin) => admin[Symbol.asyncDispose]()));
});

/** An admin as it starts on the documents that there are. `isDead`: once true, nothing leaves it any more. */
async function start(isDead = (): boolean => false): Promise<BatchOperations> {
  const clock = { now: () => now, monotonic: () => now };
  const scheduler = HURRIED;
  const newUlid = createUlidFactory(clock, seededRandom(admins.length + 1));
  const send: InvocationWorld['send'] = (request, respond) => {
    return isDead() ? IRREVOCABLE : world.send(request, respond);
  };
  const operations = new InvocationOperations({ channel: { send }, scheduler, newUlid });
  const parts = { metadata, hashes, clock, scheduler, newUlid, operations };
  const admin = createBatchOperations({ ...parts, invocations: world, journals: world });
  admins.push(admin);
  await admin.load();
  await admin.start();
  return admin;
}

function begin(
  admin: BatchOperations,
  operation: Operation,
  selection: BatchSelection = ALL,
): Promise<BatchOperation> {
  return admin.begin({ operation, selection, isDryRun: false });
}

/** Waits for something that only needs turns of the event loop. */
async function until(what: string, condition: () => boolean): Promise<void> {
  const end = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`never: ${what}`);
    await new Promise(setImmediate);
  }
}

async function ended(admin: BatchOperations, { id }: BatchOperation): Promise<BatchOperation> {
  await until('the batch operation ends', () => admin.require(id).status !== 'running');
  return admin.require(id);
}

function addMany(count: number, described: Parameters<InvocationWorld['add']>[1]): InvocationId[] {
  const ids = Array.from({ length: count }, (_, number) => worldId(number + 1));
  for (const id of ids) world.add(id, described);
  return ids;
}

const counts = ({ matched, succeeded, failed, skipped }: BatchOperation): number[] => [
  matched,
  succeeded,
  failed,
  skipped,
];

describe('a batch operation by filter', () => {
  it('that cannot be planned any more counts what it has done', async () => {
    addMany(150, { status: 'invoked' });
    const admin = await start();
    world.intercept = () => {
      world.canBeScanned = false;
      return undefined;
    };
    const batch = await ended(admin, await begin(admin, KILL));
    expect(batch).toMatchObject({ status: 'failed', reason: 'a row cannot be read' });
    expect(counts(batch)).toEqual([100, 100, 0, 0]);
  });

  it('reaches each invocation once, page by page', async () => {
    addMany(345, { status: 'invoked' });
    const admin = await start();
    const batch = await ended(admin, await begin(admin, KILL));
    expect(batch).toMatchObject({ status: 'completed', endedAt: now, scanned: 345, page: [] });
    expect(counts(batch)).toEqual([345, 345, 0, 0]);
    expect(new Set(world.effects).size).toBe(345);
    expect(world.effects).toHaveLength(345);
  });

  it('ends at once when nothing fits', async () => {
    const admin = await start();
    const batch = await ended(admin, await begin(admin, KILL));
    expect([batch.status, ...counts(batch)]).toEqual(['completed', 0, 0, 0, 0]);
  });

  it('takes only what fits, and only states in which the operation does something', async () => {
    const deploymentId = 'dp_1' as DeploymentId;
    const pin = { deploymentId, protocolVersion: 7 };
    const object = { kind: 'object-exclusive', service: 'Obj', key: 'k', handler: 'h' } as const;
    world.add(worldId(1), { status: 'completed', hasFailed: true });
    world.add(worldId(2), { status: 'completed' });
    world.add(worldId(3), { status: 'suspended', target: object });
    world.add(worldId(4), { status: 'inboxed', target: object, createdAt: 500 });
    world.add(worldId(5), { status: 'invoked', pin });
    world.add(worldId(6), { status: 'paused', pin });
    world.add(worldId(7), { status: 'paused', createdAt: now + 1 });
    const admin = await start();
    const hits = async (operation: Operation, filter: object): Promise<number[]> => {
      const selection = { kind: 'filter', filter: { ...NO_FILTER, ...filter } } as const;
      world.requests.length = 0;
      world.intercept = () => ({ kind: 'operation', outcome: 'done' });
      await ended(admin, await begin(admin, operation, selection));
      const asked = world.requests.map((each) => 'invocationId' in each && each.invocationId);
      return [1, 2, 3, 4, 5, 6, 7].filter((number) => asked.includes(worldId(number)));
    };
    expect(await hits(KILL, {})).toEqual([3, 4, 5, 6]);
    expect(await hits(KILL, { service: 'Obj' })).toEqual([3, 4]);
    expect(await hits(KILL, { service: 'Obj', handler: 'other' })).toEqual([]);
    expect(await hits(KILL, { key: 'k', createdBefore: 500 })).toEqual([3]);
    expect(await hits(KILL, { key: 'k', createdAfter: 0 })).toEqual([4]);
    expect(await hits(KILL, { deploymentId })).toEqual([5, 6]);
    expect(await hits(KILL, { statuses: ['pending', 'ready'] })).toEqual([4, 5]);
    expect(await hits({ kind: 'pause' }, {})).toEqual([3, 5]);
    expect(await hits({ kind: 'resume', deployment: { kind: 'keep' } }, {})).toEqual([3, 6]);
    expect(await hits({ kind: 'purge' }, {})).toEqual([1, 2]);
    expect(await hits(RESTART, { result: 'failure' })).toEqual([1]);
    expect(await hits(RESTART, { result: 'success' })).toEqual([2]);
  });

  it('counts what moved on since the scan as skipped, and lists what failed', async () => {
    const [first, second, third] = addMany(3, { status: 'completed' });
    world.intercept = (request) => {
      const id = 'invocationId' in request ? request.invocationId : undefined;
      if (id === first) return { kind: 'operation', outcome: 'not-found' };
      if (id === second) return { kind: 'operation', outcome: 'workflow-unsupported' };
      return undefined;
    };
    const admin = await start();
    const batch = await ended(admin, await begin(admin, RESTART));
    expect(counts(batch)).toEqual([3, 1, 1, 1]);
    expect(batch.failures).toEqual([{ id: second, reason: expect.stringContaining('workflow') }]);
    expect(world.effects).toEqual([`restart-as-new ${String(third)}`]);
  });

  it('a restart does not chase what it makes, also when the clock of the partition is behind', async () => {
    addMany(250, { status: 'completed' });
    const admin = await start();
    const batch = await ended(admin, await begin(admin, RESTART));
    expect(counts(batch)).toEqual([250, 250, 0, 0]);
    expect(world.rows.size).toBe(500);
  });

  it('a dry run counts and does nothing', async () => {
    addMany(250, { status: 'invoked' });
    const admin = await start();
    const begun = await admin.begin({ operation: KILL, selection: ALL, isDryRun: true });
    const batch = await ended(admin, begun);
    expect([batch.status, ...counts(batch)]).toEqual(['completed', 250, 0, 0, 0]);
    expect(world.requests).toEqual([]);
  });

  it('asks again while a partition takes no work, and never fails for it', async () => {
    addMany(150, { status: 'invoked' });
    let refusals = 0;
    world.intercept = () => {
      refusals += 1;
      return refusals % 3 === 0 ? undefined : { kind: 'unavailable', reason: 'overloaded' };
    };
    const admin = await start();
    const batch = await ended(admin, await begin(admin, KILL));
    expect(counts(batch)).toEqual([150, 150, 0, 0]);
    expect(world.effects).toHaveLength(150);
  });
});

describe('a batch operation on named invocations', () => {
  it('tells of each one why it failed', async () => {
    const [running, done] = addMany(2, { status: 'invoked' }) as [InvocationId, InvocationId];
    world.add(done, { status: 'completed' });
    const admin = await start();
    const ids = [running, done, UNKNOWN_ID];
    const batch = await ended(admin, await begin(admin, KILL, { kind: 'ids', ids }));
    expect(counts(batch)).toEqual([3, 1, 2, 0]);
    expect(batch.failures.map(({ id }) => id)).toEqual([done, UNKNOWN_ID]);
  });

  it('reads on where a page ended', async () => {
    const ids = addMany(230, { status: 'invoked' });
    const admin = await start();
    const batch = await ended(admin, await begin(admin, KILL, { kind: 'ids', ids }));
    expect(counts(batch)).toEqual([230, 230, 0, 0]);
    expect(world.effects).toHaveLength(230);
  });
});

describe('an abort', () => {
  it('takes effect within a page; what was done stays', async () => {
    addMany(1000, { status: 'invoked' });
    const admin = await start();
    const { id } = await begin(admin, KILL);
    await until('a page is done', () => admin.require(id).succeeded >= 100);
    const seen = admin.require(id).succeeded;
    expect((await admin.abort(id)).isAbortRequested).toBe(true);
    const batch = await ended(admin, admin.require(id));
    expect(batch.status).toBe('aborted');
    expect(batch.succeeded).toBeLessThanOrEqual(seen + 200);
    expect(counts(batch)).toEqual([batch.succeeded, batch.succeeded, 0, 0]);
    expect(world.effects).toHaveLength(batch.succeeded);
    expect((await admin.abort(id)).status).toBe('aborted');
  });

  it('does not wait for a partition that takes no work', async () => {
    addMany(10, { status: 'invoked' });
    world.intercept = () => ({ kind: 'unavailable', reason: 'overloaded' });
    const admin = await start();
    const begun = await begin(admin, KILL);
    await until('it is asked', () => world.requests.length > 20);
    await admin.abort(begun.id);
    expect(await ended(admin, begun)).toMatchObject({ status: 'aborted', matched: 0 });
  });

  it('that was asked before a crash is obeyed after it', async () => {
    addMany(10, { status: 'invoked' });
    const silent = await start();
    world.intercept = () => 'silent';
    const { id } = await begin(silent, KILL);
    await until('it is asked', () => world.requests.length === 10);
    await silent.abort(id);
    world.intercept = () => undefined;
    const admin = await start();
    expect((await ended(admin, admin.require(id))).status).toBe('aborted');
    expect(world.effects).toEqual([]);
  });
});

describe('after a crash', () => {
  /** Answers are lost from the `count`th effect on, as when the process is killed then. */
  async function crashAfter(count: number, operation: Operation): Promise<BatchOperation> {
    let isDead = false;
    world.losesAnswer = () => world.effects.length >= count;
    const crashed = await start(() => isDead);
    const batch = await begin(crashed, operation);
    await until('answers are lost', () => world.effects.length >= count + 10);
    isDead = true;
    world.losesAnswer = () => false;
    return batch;
  }

  it.each([
    ['cancel', CANCEL, 'invoked'],
    ['cancel of what is scheduled', CANCEL, 'scheduled'],
    ['kill', KILL, 'invoked'],
    ['purge', { kind: 'purge' } as Operation, 'completed'],
    ['restart-as-new', RESTART, 'completed'],
    ['pause', { kind: 'pause' } as Operation, 'invoked'],
  ] as const)('%s goes on and reaches each invocation once', async (_name, operation, status) => {
    addMany(250, { status });
    const { id } = await crashAfter(130, operation);
    const admin = await start();
    const batch = await ended(admin, admin.require(id));
    expect([batch.status, ...counts(batch)]).toEqual(['completed', 250, 250, 0, 0]);
    expect(world.effects).toHaveLength(250);
    expect(new Set(world.effects).size).toBe(250);
  });

  it('the one who lost the claim saves nothing any more', async () => {
    addMany(50, { status: 'invoked' });
    const answers: (() => void)[] = [];
    const { send } = InvocationWorld.prototype;
    world.send = (request, respond) => {
      return send.call(world, request, (answer) => answers.push(() => respond(answer)));
    };
    const old = await start();
    const { id } = await begin(old, KILL);
    await until('answers are there', () => answers.length === 50);
    world.send = send;
    const admin = await start();
    const batch = await ended(admin, admin.require(id));
    for (const answer of answers) answer();
    await until('the old one notices', () => old.require(id).status === 'completed');
    await old[Symbol.asyncDispose]();
    expect(admin.require(id)).toBe(batch);
    expect(counts(batch)).toEqual([50, 50, 0, 0]);
    expect(old.require(id)).toEqual(batch);
    expect(world.effects).toHaveLength(50);
  });

  it('a document that cannot be read stays, and the others go on', async () => {
    await metadata.put(batchOperationDocument(0), Uint8Array.of(1), 'absent');
    addMany(5, { status: 'invoked' });
    const admin = await start();
    expect(admin.list()).toEqual([]);
    await ended(admin, await begin(admin, KILL));
    const entry = await metadata.get(batchOperationDocument(0));
    expect(entry?.value).toEqual(Uint8Array.of(1));
    expect((await start()).list()).toHaveLength(1);
  });
});

describe('what is remembered', () => {
  it('is listed newest first, and forgotten some days after the end', async () => {
    const admin = await start();
    const first = await ended(admin, await begin(admin, KILL));
    now += 10;
    const second = await ended(admin, await begin(admin, KILL));
    expect(admin.list().map(({ id }) => id)).toEqual([second.id, first.id]);
    now = first.createdAt + BATCH_KEPT_MS_MAX;
    expect(admin.list().map(({ id }) => id)).toEqual([second.id]);
    expect(() => admin.require(first.id)).toThrow('unknown batch operation');
  });

  it('is bounded: the one that ended first makes room', async () => {
    const admin = await start();
    const ids: string[] = [];
    for (let number = 0; number <= BATCH_KEPT_MAX; number += 1) {
      now += 1;
      ids.push((await ended(admin, await begin(admin, KILL))).id);
    }
    expect(admin.list().map(({ id }) => id)).toEqual(ids.slice(1).reverse());
    expect(await metadata.get(batchOperationDocument(BATCH_KEPT_MAX))).toBeUndefined();
  });

  it('too many at the same time are refused', async () => {
    addMany(1, { status: 'invoked' });
    world.intercept = () => ({ kind: 'unavailable', reason: 'overloaded' });
    const admin = await start();
    const begun = Array.from({ length: BATCH_RUNNING_MAX }, () => begin(admin, KILL));
    await expect(begin(admin, KILL)).rejects.toMatchObject({ code: 'overloaded' });
    for (const { id } of await Promise.all(begun)) await admin.abort(id);
    await until('all end', () => admin.list().every(({ status }) => status === 'aborted'));
    world.intercept = () => undefined;
    expect((await ended(admin, await begin(admin, KILL))).succeeded).toBe(1);
  });

  it('a scan that fails ends it, with the reason', async () => {
    const admin = await start();
    world.scan = () => {
      throw new Error('the disk is gone');
    };
    const batch = await ended(admin, await begin(admin, KILL));
    expect(batch).toMatchObject({ status: 'failed', reason: 'the disk is gone' });
  });
});

it('a stop lets what is begun be decided and leaves the rest for the next start', async () => {
  addMany(300, { status: 'invoked' });
  let refusals = 0;
  world.intercept = () => {
    if (world.effects.length < 120) return undefined;
    refusals += 1;
    return { kind: 'unavailable', reason: 'stopping' };
  };
  const admin = await start();
  const { id } = await begin(admin, KILL);
  await until('the partition stops', () => refusals > 10);
  await admin[Symbol.asyncDispose]();
  world.intercept = () => undefined;
  const next = await start();
  const batch = await ended(next, next.require(id));
  expect([batch.status, ...counts(batch)]).toEqual(['completed', 300, 300, 0, 0]);
  expect(world.effects).toHaveLength(300);
});
