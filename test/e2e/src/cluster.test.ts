/**
 * The promises of a cluster: what one process promises, while workers die, leave and join. Callers see none of it: no call fails,
 * no result is lost, nothing happens twice.
 */

import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LocalCluster, natsServerPath, waitUntil } from '@engine-test/support';

import { call, result, send } from './ask.js';
import { ServiceProcess } from './service-process.js';

const describeWithNats = natsServerPath() === undefined ? describe.skip : describe;

const START_MS = 90_000;
const FAULT_MS = 60_000;
const PARTITIONS = 4;
/** Enough that some are in every partition. */
const KEYS = Array.from({ length: 24 }, (_, index) => `key-${String(index)}`);

/** Counters of which the test knows the right value, called all at once. */
class Tallies {
  readonly #cluster: LocalCluster;
  #rounds = 0;

  constructor(cluster: LocalCluster) {
    this.#cluster = cluster;
  }

  /** Adds one to each; every call has to succeed, and to give the count that is right. */
  async addToAll(): Promise<void> {
    this.#rounds += 1;
    const calls = KEYS.map((key) => call(this.#cluster, `Tally/${key}/add`, 1));
    expect(await Promise.all(calls)).toEqual(KEYS.map(() => this.#rounds));
  }

  /** Adds on and on while something else goes on. */
  async addWhile(change: () => Promise<unknown>): Promise<void> {
    let isOver = false;
    const done = change().finally(() => {
      isOver = true;
    });
    do await this.addToAll();
    while (!isOver);
    await done;
  }
}

async function leadersOf(cluster: LocalCluster): Promise<ReadonlySet<string | undefined>> {
  return new Set((await cluster.leaders()).values());
}

describeWithNats('a cluster of two workers', () => {
  const resources = new AsyncDisposableStack();
  let cluster: LocalCluster;
  let services: ServiceProcess;
  let tallies: Tallies;

  beforeAll(async () => {
    services = resources.use(await ServiceProcess.start());
    cluster = resources.use(await LocalCluster.start({ partitionCount: PARTITIONS }));
    await cluster.register(services.uri);
    tallies = new Tallies(cluster);
  }, START_MS);

  afterAll(() => resources.disposeAsync());

  it(
    'spreads the partitions, and every one of them takes calls',
    async () => {
      expect(await leadersOf(cluster)).toEqual(new Set(['worker-1', 'worker-2']));
      await tallies.addToAll();
    },
    START_MS,
  );

  it(
    'goes on after a kill -9 of a worker: no call fails, finished steps do not run again',
    async () => {
      const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
      const ids = await Promise.all(names.map((name) => send(cluster, 'Story/run', name)));
      await Promise.all(names.map((name) => services.until(`${name}/second`)));
      await cluster.kill('worker-1');
      await tallies.addToAll();
      for (const name of names) services.open(name);
      const results = await Promise.all(ids.map((id) => result(cluster, id, FAULT_MS)));
      expect(results).toEqual(names.map(() => 'ran'));
      for (const name of names) expect(services.count(`${name}/first`)).toBe(1);
      await waitUntil(
        'the other one leads all',
        async () => !(await leadersOf(cluster)).has('worker-1'),
      );
    },
    FAULT_MS,
  );

  it(
    'takes the worker back, and it leads again',
    async () => {
      await tallies.addWhile(async () => {
        await cluster.start('worker-1');
        await waitUntil(
          'it leads',
          async () => (await leadersOf(cluster)).has('worker-1'),
          FAULT_MS,
        );
      });
      await cluster.untilReady();
    },
    FAULT_MS,
  );

  it(
    'adds a worker under load, and partitions move to it',
    async () => {
      await tallies.addWhile(async () => {
        const name = await cluster.addWorker();
        await waitUntil('it leads', async () => (await leadersOf(cluster)).has(name), FAULT_MS);
      });
    },
    FAULT_MS,
  );

  it(
    'drains a worker that is asked to stop',
    async () => {
      await tallies.addWhile(async () => {
        expect(await cluster.stop('worker-2')).toBe(0);
      });
      await waitUntil('others lead', async () => !(await leadersOf(cluster)).has('worker-2'));
      await tallies.addToAll();
    },
    FAULT_MS,
  );
});

describeWithNats('a cluster on three NATS servers', () => {
  const resources = new AsyncDisposableStack();
  let cluster: LocalCluster;

  beforeAll(async () => {
    const services = resources.use(await ServiceProcess.start());
    const options = { natsCount: 3, workerCount: 1, partitionCount: PARTITIONS } as const;
    cluster = resources.use(await LocalCluster.start(options));
    await cluster.register(services.uri);
  }, START_MS);

  afterAll(() => resources.disposeAsync());

  it(
    'goes on after a kill -9 of one of them',
    async () => {
      const tallies = new Tallies(cluster);
      await tallies.addToAll();
      await cluster.kill('nats-2');
      await tallies.addToAll();
      await cluster.start('nats-2');
      await tallies.addToAll();
    },
    FAULT_MS,
  );
});

describeWithNats('a cluster whose processes only speak TLS with each other', () => {
  const resources = new AsyncDisposableStack();
  let cluster: LocalCluster;

  beforeAll(async () => {
    const files = join(__dirname, '../../../packages/rpc/contract/tls');
    const env = {
      ENGINE_TLS__MODE: 'require',
      ENGINE_TLS__CERT_FILE: join(files, 'worker.pem'),
      ENGINE_TLS__KEY_FILE: join(files, 'worker.key'),
      ENGINE_TLS__CA_FILES: join(files, 'ca.pem'),
      ENGINE_TLS__REQUIRE_CLIENT_AUTH: 'true',
      ENGINE_TLS__ALLOWED_SUBJECT_NAMES: '*.engine',
    };
    const services = resources.use(await ServiceProcess.start());
    cluster = resources.use(await LocalCluster.start({ partitionCount: PARTITIONS, env }));
    await cluster.register(services.uri);
  }, START_MS);

  afterAll(() => resources.disposeAsync());

  it(
    'takes calls, and hands over from one worker to the other',
    async () => {
      const tallies = new Tallies(cluster);
      await tallies.addWhile(async () => {
        expect(await cluster.stop('worker-1')).toBe(0);
      });
      expect(await leadersOf(cluster)).toEqual(new Set(['worker-2']));
      await tallies.addToAll();
    },
    FAULT_MS,
  );
});
