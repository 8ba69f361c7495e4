import type { Scheduler } from './scheduler.js';

/**
 * Work that lives and ends together. One abort signal reaches every task, a failing task aborts the others, and `stop`
 * waits for all of them. No promise is left floating: whatever a task throws is kept until somebody asks.
 */
export class TaskGroup implements AsyncDisposable {
  readonly #scheduler: Scheduler;
  readonly #controller = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #errors: unknown[] = [];

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What the tasks threw, oldest first. The abort's own reason, thrown on by a task that obeyed, is not among them. */
  get errors(): readonly unknown[] {
    return this.#errors;
  }

  get runningCount(): number {
    return this.#running.size;
  }

  /** Starts `task` at once. After `abort` it still runs, with a signal that is already aborted. */
  run(task: (signal: AbortSignal) => Promise<void>): void {
    const promise = this.#guard(task).finally(() => this.#running.delete(promise));
    this.#running.add(promise);
  }

  abort(reason: unknown = new Error('stopping')): void {
    this.#controller.abort(reason);
  }

  /** Aborts and waits for every task, at most `limitMs`. False when some were still running at the limit. */
  async stop(limitMs: number): Promise<boolean> {
    this.abort();
    let cancelLimit = (): void => undefined;
    const limit = new Promise<boolean>((resolve) => {
      const timer = this.#scheduler.after(limitMs, () => {
        resolve(false);
      });
      cancelLimit = () => {
        timer.cancel();
      };
    });
    const stopped = await Promise.race([this.settled().then(() => true), limit]);
    cancelLimit();
    return stopped;
  }

  /** Resolves when no task runs any more, also one started meanwhile. Never rejects. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.abort();
    await this.settled();
  }

  async #guard(task: (signal: AbortSignal) => Promise<void>): Promise<void> {
    try {
      await task(this.signal);
    } catch (error) {
      if (this.signal.aborted && error === this.signal.reason) return;
      this.#errors.push(error);
      this.abort(error);
    }
  }
}
