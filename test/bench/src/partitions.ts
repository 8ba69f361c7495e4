/**
 * How many partitions a cluster should have: what their logs cost on three nats-servers with one disk, every write synced. The same
 * work arrives however many partitions there are; each commits one record at a time and puts into it what has come since.
 *
 * Prints the CPU of client and servers per command, the wait for a commit, what the logs cost when nothing happens, and how long
 * commits stand still when the server that leads most of them is killed.
 */

import { readFileSync } from 'node:fs';

import { NatsServers } from '@engine-test/support';
import { loadHashes, toPartitionId } from '@engine/domain';
import { LOG_START, RecordWriter, type LeaderLog } from '@engine/log';
import { Nats } from '@engine/nats';
import { systemClock, systemScheduler } from '@engine/runtime';
import { assert } from '@engine/stdx';

const COUNTS = (process.env['PARTITIONS'] ?? '1,6,12,24,48').split(',').map(Number);
const COMMANDS_PER_SECOND = Number(process.env['COMMANDS_PER_SECOND'] ?? 3_000);
/** What one command adds to a record: rows of an invocation with a small payload. */
const COMMAND_BYTES = 400;
const SECONDS = Number(process.env['SECONDS'] ?? 8);
const IDLE_SECONDS = 5;
const CLOCK_TICKS_PER_SECOND = 100;

class Feed {
  readonly #log: LeaderLog;
  readonly #records: RecordWriter;
  readonly #waits: number[];
  #waiting: number[] = [];
  #isCommitting = false;
  commits = 0;

  constructor(log: LeaderLog, checksum: (bytes: Uint8Array) => bigint, waits: number[]) {
    this.#log = log;
    this.#records = new RecordWriter(log.position, checksum);
    this.#waits = waits;
  }

  get isIdle(): boolean {
    return !this.#isCommitting && this.#waiting.length === 0;
  }

  command(): void {
    this.#waiting.push(performance.now());
    if (!this.#isCommitting) void this.#commit();
  }

  async #commit(): Promise<void> {
    this.#isCommitting = true;
    // What comes in the same turn joins the record.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const began = this.#waiting;
      this.#waiting = [];
      const bytes = new Uint8Array(began.length * COMMAND_BYTES).fill(97);
      await this.#log.commit(this.#records.next({ count: began.length, bytes }));
      this.commits += 1;
      const now = performance.now();
      for (const at of began) this.#waits.push(now - at);
    }
    this.#isCommitting = false;
  }
}

/** CPU seconds of a process so far. */
function cpuSeconds(pid: number): number {
  const fields =
    readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
      .split(') ')[1]
      ?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND;
}

function residentMiB(pid: number): number {
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}

function quantile(sorted: readonly number[], part: number): string {
  return (sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN).toFixed(1);
}

async function measure(count: number): Promise<void> {
  const { xxh3: checksum } = await loadHashes();
  await using servers = await NatsServers.start({ nodeCount: 3 });
  const pids = [0, 1, 2].map((node) => servers.pid(node) ?? 0);
  const serverCpu = (): number => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  await using nats = await Nats.connect(
    { servers: servers.urls, name: 'bench' },
    { clock: systemClock, scheduler: systemScheduler },
  );
  const waits: number[] = [];
  const feeds: Feed[] = [];
  const openedAt = performance.now();
  for (let partition = 0; partition < count; partition += 1) {
    const identity = { cluster: 'bench', partition: toPartitionId(partition), incarnation: 1n };
    const log = await nats.openLog({ identity, replicas: 3, checksum });
    const taken = await log.takeOver({
      epoch: 1n,
      node: 'bench',
      from: LOG_START,
      apply: () => undefined,
      signal: new AbortController().signal,
    });
    assert(taken.kind === 'leading', 'nobody else leads');
    feeds.push(new Feed(taken.log, checksum, waits));
  }
  const openMs = performance.now() - openedAt;
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const idleFrom = serverCpu();
  await new Promise((resolve) => setTimeout(resolve, IDLE_SECONDS * 1_000));
  const idle = (100 * (serverCpu() - idleFrom)) / IDLE_SECONDS;

  const feed = async (seconds: number): Promise<number> => {
    const from = performance.now();
    let sent = 0;
    while (performance.now() - from < seconds * 1_000) {
      const due = ((performance.now() - from) / 1_000) * COMMANDS_PER_SECOND;
      for (; sent < due; sent += 1) feeds[Math.floor(Math.random() * count)]?.command();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    while (feeds.some((each) => !each.isIdle))
      await new Promise((resolve) => setTimeout(resolve, 5));
    return sent;
  };
  await feed(2);
  waits.length = 0;
  const commitsBefore = feeds.reduce((sum, each) => sum + each.commits, 0);
  const [serversFrom, clientFrom] = [serverCpu(), process.cpuUsage()];
  const began = performance.now();
  const sent = await feed(SECONDS);
  const tookS = (performance.now() - began) / 1_000;
  const client = process.cpuUsage(clientFrom);
  const commits = feeds.reduce((sum, each) => sum + each.commits, 0) - commitsBefore;
  const sorted = waits.slice().sort((a, b) => a - b);
  const serverUs = ((serverCpu() - serversFrom) * 1e6) / sent;
  const clientUs = (client.user + client.system) / sent;
  const memory = pids.map(residentMiB).join('+');

  waits.length = 0;
  const leader = (await servers.streamLeader('engine_bench_log_0_1')) ?? 0;
  const standstill = feed(1);
  await servers.kill(leader);
  await standstill;
  const stoodMs = Math.max(...waits);

  const row = [
    count,
    (sent / tookS).toFixed(0),
    (commits / tookS).toFixed(0),
    quantile(sorted, 0.5),
    quantile(sorted, 0.99),
    clientUs.toFixed(0),
    serverUs.toFixed(0),
    idle.toFixed(1),
    memory,
    openMs.toFixed(0),
    (stoodMs / 1_000).toFixed(1),
  ];
  process.stdout.write(`| ${row.join(' | ')} |\n`);
}

process.stdout.write(
  '| partitions | commands/s | commits/s | p50 ms | p99 ms | client µs | servers µs | idle % | MiB | open ms | server killed: s |\n' +
    `|${'---|'.repeat(11)}\n`,
);
for (const count of COUNTS) await measure(count);
