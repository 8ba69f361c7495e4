import { createLogger } from '@engine/telemetry';
import { delay, systemScheduler } from '@engine/runtime';
import { EventLoopWatch } from './event-loop-watch.js';
import type { RunningEngine } from './running-engine.js';

const log = createLogger('server:process');
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Resolves with the exit status once the engine has ended: 0 after SIGTERM or SIGINT, 1 when it failed or did not drain within
 * the limit. A second signal ends the process at once.
 */
export async function untilStopped(
  engine: RunningEngine,
  limitMs: number,
  onSignal: (signal: string) => void,
): Promise<number> {
  using signals = new Signals();
  using eventLoop = new EventLoopWatch();
  const reason = await Promise.race([signals.first, engine.failed]);
  if (typeof reason === 'string') onSignal(reason);
  else log.fatal({ err: reason }, 'the engine cannot go on');
  const drained = await disposedWithin(engine, limitMs);
  eventLoop.sayWorst();
  return drained && typeof reason === 'string' ? 0 : 1;
}

/** Hears signals until disposed. The second one, while the engine drains, ends the process. */
class Signals implements Disposable {
  readonly first: Promise<string>;
  #resolve: (signal: string) => void = () => undefined;
  #count = 0;

  constructor() {
    this.first = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    for (const signal of SIGNALS) process.on(signal, this.#heard);
  }

  [Symbol.dispose](): void {
    for (const signal of SIGNALS) process.off(signal, this.#heard);
  }

  readonly #heard = (signal: string): void => {
    this.#count += 1;
    if (this.#count > 1) process.exit(1);
    this.#resolve(signal);
  };
}

async function disposedWithin(engine: RunningEngine, limitMs: number): Promise<boolean> {
  const controller = new AbortController();
  const late = delay(systemScheduler, limitMs, controller.signal).then(
    () => {
      log.error({ limitMs }, 'not drained in time; what is left is taken up at the next start');
      return false;
    },
    () => true,
  );
  const done = engine[Symbol.asyncDispose]().then(
    () => true,
    (error: unknown) => {
      log.error({ err: error }, 'stopping failed');
      return false;
    },
  );
  const drained = await Promise.race([done, late]);
  controller.abort();
  return drained;
}
