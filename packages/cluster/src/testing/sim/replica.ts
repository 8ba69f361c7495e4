/** One partition on one simulated worker: the driver around a `Leadership`, its store, its appends, and what it releases. */

import type { NodeId } from '@engine/domain';
import { LOG_START, type LogPosition, type LogRecord } from '@engine/log';
import type { LeaseTimes } from '@engine/metadata';

import { judgeRecord, judgeStore, settleAppend } from '../../leadership/chain-checks.js';
import type { ReplicaPosition } from '../../leadership/chain-checks.js';
import { Leadership } from '../../leadership/leadership.js';
import type { LeadershipAction, LeadershipInput } from '../../leadership/leadership-io.js';
import { simChecksum, simRecord, type SimLog } from './stores.js';
import type { Watchdog, Watched } from './watchdog.js';
import type { World } from './world.js';

/** Records that a crash can take from a store that is not synced. */
const UNSYNCED_MAX = 3;
const POLL_MS = 250;
const SETTLE_MS = 200;
const REPLICAS_MS_MAX = 500;

/** What a replica has of its worker. */
export interface ReplicaHost extends Watched {
  readonly world: World;
  readonly times: LeaseTimes;
  readonly log: SimLog;
  readonly watch: Watchdog;
  readonly peers: readonly ReplicaHost[];
  readonly isLeaseHeld: boolean;
  after(ms: number, fn: () => void): void;
  every(ms: number, fn: () => void): void;
  ask<T>(peer: ReplicaHost, question: () => T, answer: (result: T) => void): void;
  replica(partition: number): SimReplica | undefined;
}

export class SimReplica {
  readonly partition: number;
  readonly machine: Leadership;
  readonly #worker: ReplicaHost;
  /** What is on the disk: applied records, oldest first. It outlives the process. */
  readonly #store: LogRecord[];
  /** Replaced with every `stop`: what was begun before is not heard any more. */
  #leadership = {};
  #isFollowing = false;
  #isServing = false;
  runsAttempts = false;
  #appending: LogRecord | undefined;
  #askers: (() => void)[] = [];

  constructor(worker: ReplicaHost, partition: number, store: LogRecord[]) {
    this.#worker = worker;
    this.partition = partition;
    this.#store = store;
    this.machine = new Leadership({ handoverPatienceMs: worker.times.ttlMs });
  }

  get position(): LogPosition {
    return this.#store.at(-1) ?? LOG_START;
  }

  /** The process was killed: a little of what was applied may not be on the disk. */
  crash(): void {
    const lost = this.#worker.world.chance.between(0, UNSYNCED_MAX);
    this.#store.splice(Math.max(0, this.#store.length - lost));
    this.runsAttempts = false;
  }

  begin(): void {
    this.#open();
    this.#worker.every(POLL_MS, () => {
      if (this.#isFollowing) this.#read(() => undefined);
    });
    this.#worker.every(400, () => {
      if (this.#isServing && this.#appending === undefined) this.#append(this.machine.report.epoch);
    });
  }

  tell(input: LeadershipInput): void {
    const before = this.machine.phase;
    const actions = this.machine.step(input, this.#worker.world.now);
    if (this.machine.phase !== before) this.#note(`${before} → ${this.machine.phase}`);
    for (const action of actions) this.#perform(action);
    if (!this.machine.hasLetGo) return;
    const askers = this.#askers;
    this.#askers = [];
    for (const answer of askers) answer();
  }

  /** A later leader waits: `answer` once nothing runs any more. */
  stopFor(epoch: bigint, answer: () => void): void {
    this.#askers.push(answer);
    this.tell({ kind: 'asked-to-stop', epoch });
  }

  #perform(action: LeadershipAction): void {
    switch (action.kind) {
      case 'follow':
        this.#isFollowing = true;
        return;
      case 'unfollow':
        this.#isFollowing = false;
        return;
      case 'reopen':
      case 'restore':
        this.#open();
        return;
      case 'read-to-end':
        this.#readToEnd(action.read);
        return;
      case 'ask-replicas':
        this.#askReplicas();
        return;
      case 'ask-to-stop':
        this.#askToStop(action.node, action.epoch);
        return;
      case 'announce':
        this.#isFollowing = false;
        this.#append(action.epoch);
        return;
      case 'settle-append':
        this.#settle();
        return;
      case 'rebuild':
        this.#later(20, () => {
          this.tell({ kind: 'rebuilt' });
        });
        return;
      case 'serve':
        this.#isServing = true;
        if (this.#worker.isLeaseHeld) this.#startAttempts();
        return;
      case 'hold-attempts':
        this.runsAttempts = false;
        return;
      case 'resume-attempts':
        this.#startAttempts();
        return;
      case 'stop':
        this.#stop();
        return;
      case 'alarm':
        this.#note(`alarm ${action.fault}`);
    }
  }

  #startAttempts(): void {
    this.runsAttempts = true;
    this.#worker.watch.attemptsStarted(this.#worker, this.partition);
  }

  #stop(): void {
    this.#leadership = {};
    this.#isServing = false;
    this.runsAttempts = false;
    this.#appending = undefined;
    this.#worker.after(this.#worker.world.chance.between(1, 50), () => {
      this.tell({ kind: 'stopped' });
    });
  }

  #open(): void {
    this.#isFollowing = false;
    const { position } = this;
    const at = position.sequence === 0n ? 0n : position.sequence - 1n;
    this.#worker.log.readAfter(
      this.#worker,
      { partition: this.partition, sequence: at },
      (read) => {
        if (read === undefined) {
          this.#worker.after(SETTLE_MS, () => {
            this.#open();
          });
          return;
        }
        const { records, last } = read;
        const wanted = position.sequence === last ? position.sequence : position.sequence + 1n;
        const witness = records.find(({ sequence }) => sequence === wanted);
        const extent = { incarnation: 'i', first: 1n, last, witness };
        const verdict = judgeStore({ incarnation: 'i', position }, extent, simChecksum);
        this.tell({ kind: 'opened', verdict, position });
      },
    );
  }

  #read(done: (isRead: boolean) => void): void {
    const { sequence } = this.position;
    this.#worker.log.readAfter(this.#worker, { partition: this.partition, sequence }, (read) => {
      if (read !== undefined && this.#isFollowing) {
        if (read.last < sequence) this.tell({ kind: 'log-broken', fault: 'ahead' });
        else this.#apply(read.records);
      }
      done(read !== undefined);
    });
  }

  #apply(records: readonly LogRecord[]): void {
    for (const record of records) {
      if (record.sequence <= this.position.sequence) continue;
      if (judgeRecord(this.position, record, simChecksum) !== 'continues') {
        this.tell({ kind: 'log-broken', fault: 'other-branch' });
        return;
      }
      this.#store.push(record);
    }
    this.tell({ kind: 'records-read', position: this.position });
  }

  #readToEnd(read: number): void {
    this.#read((isRead) => {
      if (!isRead) {
        this.#later(SETTLE_MS, () => {
          this.#readToEnd(read);
        });
        return;
      }
      const chainAt = (sequence: bigint): bigint | undefined =>
        this.#store[Number(sequence) - 1]?.chain;
      const tail = { end: this.position, chainAt };
      this.tell({ kind: 'end-reached', read, tail, clockSkewMs: 0 });
    });
  }

  #askReplicas(): void {
    const answers: ReplicaPosition[] = [];
    const others = this.#worker.peers.filter((peer) => peer !== this.#worker);
    let missing = others.length;
    const finish = (): void => {
      missing = -1;
      this.tell({ kind: 'replicas-answered', replicas: answers });
    };
    for (const peer of others) {
      this.#worker.ask(
        peer,
        () => peer.replica(this.partition)?.position,
        (position) => {
          if (position !== undefined) answers.push({ node: peer.id, ...position });
          missing -= 1;
          if (missing === 0) finish();
        },
      );
    }
    if (missing === 0) finish();
    this.#later(REPLICAS_MS_MAX, () => {
      if (missing > 0) finish();
    });
  }

  #askToStop(node: NodeId, epoch: bigint): void {
    const peer = this.#worker.peers.find(({ id }) => id === node);
    const isWanted = (): boolean =>
      this.machine.phase === 'candidate' && this.machine.report.epoch === epoch;
    if (peer === undefined || !isWanted()) return;
    const stopped = (): void => {
      this.tell({ kind: 'predecessor-stopped', node, epoch });
    };
    if (!peer.isUp && !this.#worker.world.isCut(this.#worker.id, node)) {
      this.#worker.after(5, stopped);
      return;
    }
    this.#worker.world.send(this.#worker, peer, () => {
      const answer = (): void => {
        peer.world.send(peer, this.#worker, stopped);
      };
      const replica = peer.replica(this.partition);
      if (replica === undefined) answer();
      else replica.stopFor(epoch, answer);
    });
    this.#later(1_000, () => {
      this.#askToStop(node, epoch);
    });
  }

  #append(epoch: bigint): void {
    const name = `${this.#worker.id}/${this.#worker.incarnation}/${this.#worker.world.now}`;
    this.#appending = simRecord(this.position, epoch, name);
    this.#send(this.#appending);
  }

  #send(record: LogRecord): void {
    const leadership = this.#leadership;
    this.#worker.log.append(this.#worker, { partition: this.partition, record }, (outcome) => {
      if (leadership !== this.#leadership || this.#appending !== record) return;
      if (outcome === 'landed') this.#landed(record);
      else this.tell({ kind: 'append-unknown' });
    });
  }

  #settle(): void {
    const record = this.#appending;
    if (record === undefined) return;
    this.#later(SETTLE_MS, () => {
      const place = { partition: this.partition, sequence: record.sequence - 1n };
      this.#worker.log.readAfter(this.#worker, place, (found) => {
        if (this.#appending !== record) return;
        if (found === undefined) {
          this.#settle();
          return;
        }
        const verdict = settleAppend(record, found.records[0]);
        if (verdict === 'landed') this.#landed(record);
        else if (verdict === 'resend') this.#send(record);
        else {
          this.#appending = undefined;
          if (this.machine.phase === 'announcing') this.#isFollowing = true;
          this.tell({ kind: 'append-overtaken' });
        }
      });
    });
  }

  #landed(record: LogRecord): void {
    this.#appending = undefined;
    this.#store.push(record);
    this.#worker.watch.released(this.#worker, this.partition, record);
    this.tell({ kind: 'append-landed', position: record });
  }

  /** Not any more once the leadership was stopped. */
  #later(ms: number, fn: () => void): void {
    const leadership = this.#leadership;
    this.#worker.after(ms, () => {
      if (leadership === this.#leadership) fn();
    });
  }

  #note(what: string): void {
    const { epoch } = this.machine.report;
    this.#worker.world.note(`${this.#worker.id} partition ${this.partition} @${epoch}: ${what}`);
  }
}
