import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { EngineError } from '@engine/domain';
import { Deferred } from '@engine/stdx';
import type { ServerConfig } from './config/config.js';
import type { RunningEngine } from './running-engine.js';
import { serve } from './serve.js';

const env = { ENGINE_LOG_LEVEL: 'silent' };

/** An engine that records whether it was drained. */
class FakeEngine implements RunningEngine {
  readonly ports = { ingress: 1, admin: 2 };
  readonly failure = new Deferred<Error>();
  readonly failed = this.failure.promise;
  readonly started = new Deferred<ServerConfig>();
  drained = false;

  readonly start = (config: ServerConfig): Promise<RunningEngine> => {
    this.started.resolve(config);
    return Promise.resolve(this);
  };

  [Symbol.asyncDispose](): Promise<void> {
    this.drained = true;
    return Promise.resolve();
  }
}

const stderr = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
const stdout = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
afterEach(() => {
  stderr.mockClear();
  stdout.mockClear();
});

describe('serve', () => {
  it('drains on SIGTERM and ends with status 0', async () => {
    const engine = new FakeEngine();
    const flags = { 'base-dir': '/data' };
    const status = serve({ env, flags, dumpConfig: false }, engine.start);
    await expect(engine.started.promise).resolves.toMatchObject({ baseDir: '/data' });
    await new Promise(setImmediate);
    process.emit('SIGTERM', 'SIGTERM');
    await expect(status).resolves.toBe(0);
    expect(engine.drained).toBe(true);
    expect(process.listenerCount('SIGTERM')).toBe(0);
  });

  it('ends with status 1 when the engine cannot go on', async () => {
    const engine = new FakeEngine();
    engine.failure.resolve(new Error('disk gone'));
    await expect(serve({ env, flags: {}, dumpConfig: false }, engine.start)).resolves.toBe(1);
    expect(engine.drained).toBe(true);
  });

  it('explains why it could not start', async () => {
    const locked = () => Promise.reject(new EngineError('RT0005', 'locked'));
    await expect(serve({ env, flags: {}, dumpConfig: false }, locked)).resolves.toBe(1);
    expect(stderr.mock.calls.join('')).toContain('RT0005 locked');
  });

  it('dumps the configuration and starts nothing', async () => {
    const engine = new FakeEngine();
    await expect(serve({ env, flags: {}, dumpConfig: true }, engine.start)).resolves.toBe(0);
    expect(engine.started.settled).toBe(false);
    expect(stdout.mock.calls.join('')).toContain('node-name = "node-1"');
  });
});
