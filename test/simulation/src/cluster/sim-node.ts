/** A node of the simulated cluster: a place on the network where one process after the other lives. */

import type { NodeId } from '@engine/domain';

import type { Chance } from '../simulator/chance.js';
import type { EventLoop } from '../simulator/event-loop.js';
import { errorText } from '../simulator/error-text.js';
import { ServerProcess } from '../simulator/process.js';
import type { Lab } from '../workloads/lab.js';
import type { Station } from './links.js';

export interface NodeSurroundings {
  readonly loop: EventLoop;
  readonly chance: Chance;
  readonly lab: Lab;
  /** How far clocks of processes may be off, either way, ms. */
  readonly clockSkewMs: () => number;
  readonly note: (text: string) => void;
  /** After so long, in ms, a process that died is followed by the next; undefined: not by itself. */
  readonly restartAfterMs: () => number | undefined;
}

export abstract class SimNode implements Station {
  readonly id: NodeId;
  readonly surroundings: NodeSurroundings;
  #process: ServerProcess | undefined;
  #lives = 0;

  constructor(id: string, surroundings: NodeSurroundings) {
    this.id = id as NodeId;
    this.surroundings = surroundings;
  }

  get process(): ServerProcess | undefined {
    return this.#process;
  }

  get isUp(): boolean {
    return this.#process !== undefined;
  }

  get isFrozen(): boolean {
    return this.#process?.isFrozen === true;
  }

  /** Processes that lived here. */
  get lives(): number {
    return this.#lives;
  }

  /** Starts a process where none lives. */
  start(): void {
    if (this.isUp) return;
    const { loop, chance, lab, clockSkewMs, note } = this.surroundings;
    this.#lives += 1;
    const name = `${this.id}/${String(this.#lives)}`;
    const process = new ServerProcess(name, {
      loop,
      chance,
      clockSkewMs: clockSkewMs(),
      onCrash: (reason) => {
        this.#process = undefined;
        note(`${name} dies: ${reason}`);
        this.died(process);
        this.#restartLater();
      },
      onUncaught: (error) => {
        lab.violation(`${name} threw ${errorText(error)}`);
        process.crash('an exception');
      },
    });
    this.#process = process;
    note(`${name} starts`);
    this.run(process).then(
      () => {
        if (process.isAlive) note(`${name} is ready`);
      },
      (error: unknown) => {
        this.failed(process, error);
      },
    );
  }

  kill(reason: string): void {
    this.#process?.crash(reason);
  }

  freeze(): void {
    if (this.#process === undefined || this.isFrozen) return;
    this.surroundings.note(`${this.#process.name} freezes`);
    this.#process.freeze();
  }

  thaw(): void {
    if (!this.isFrozen) return;
    this.surroundings.note(`${this.#process?.name ?? ''} thaws`);
    this.#process?.thaw();
  }

  #restartLater(): void {
    const { loop, restartAfterMs } = this.surroundings;
    const ms = restartAfterMs();
    if (ms === undefined) return;
    loop.after(ms, () => {
      this.start();
    });
  }

  /** Resolves when the process does its work. Rejects when it cannot begin, and then it ends. */
  protected abstract run(process: ServerProcess): Promise<void>;

  /** The process is gone; whoever started it starts another. */
  protected abstract died(process: ServerProcess): void;

  /** A process ends itself because it cannot go on. */
  protected failed(process: ServerProcess, error: unknown): void {
    if (!process.isAlive) return;
    const text = errorText(error);
    if (!isExpected(text)) this.surroundings.lab.violation(`${process.name} cannot go on: ${text}`);
    process.crash(`cannot go on: ${text.split('\n')[0] ?? ''}`);
  }
}

/** What the world does to a process: a disk that fails, documents that nobody gives out, a format that it cannot read. */
function isExpected(text: string): boolean {
  return EXPECTED.some((part) => text.includes(part));
}

const EXPECTED = ['input/output error', 'do not answer', 'the cluster writes format'];
