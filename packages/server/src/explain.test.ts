import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { EngineError } from '@engine/domain';
import { explain, explainTakenPort, type WantedPort } from './explain.js';
import { portOwner } from './port-owner.js';
import { explainTakenPorts } from './start/taken-port.js';

const wanted = (port: number): WantedPort => ({
  port,
  purpose: 'ingress (calls)',
  variable: 'ENGINE_INGRESS__BIND_PORT',
});

async function withTakenPort(use: (port: number) => void | Promise<void>): Promise<void> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  try {
    await use((server.address() as AddressInfo).port);
  } finally {
    server.close();
  }
}

describe('explain', () => {
  it('RT0004 names the process that holds the port, and the way out', () =>
    withTakenPort(async (port) => {
      const second = createServer().listen(port);
      const [error] = (await once(second, 'error')) as [Error];
      const text = explain(new EngineError('RT0004', 'no listener', { cause: error }), [
        wanted(port),
      ]);
      expect(text).toContain(`RT0004 Port ${port}, for ingress (calls), is taken by this engine`);
      expect(text).toContain(`ENGINE_INGRESS__BIND_PORT=${port + 10_000}`);
      expect(explain(error, [])).toContain('RT0004 listen EADDRINUSE');
    }));

  it('names another process that holds the port', () => {
    const owner = { pid: 1, command: 'init' };
    expect(explainTakenPort('RT0004', wanted(1), owner)).toContain('is taken by process 1: init');
  });

  it('says so when the holder is not for us to see', () => {
    expect(explainTakenPort(undefined, wanted(1), undefined)).toMatch(/^Port 1.*another process/);
  });

  it('RT0004 says what the platform says when the port is not taken', async () => {
    const second = createServer().listen({ port: 4_711, host: '192.0.2.1' });
    const [cause] = (await once(second, 'error')) as [Error];
    const error = new EngineError('RT0004', 'no listener on 192.0.2.1:4711', { cause });
    const text = explain(error, [wanted(4_711)]);
    expect(text).toMatch(/^RT0004 no listener on 192\.0\.2\.1:4711, for ingress \(calls\)\n/);
    expect(text).not.toContain('taken');
    expect(text).toContain('docs/errors/RT0004.md');
  });

  it('shows no word of ours as if it were a documented code', () => {
    expect(explain(new EngineError('storage', 'the disk is gone'), [])).toBe('the disk is gone');
  });

  it('adds what to do for RT0002 and RT0005', () => {
    const locked = new EngineError('RT0005', 'the directory /data is locked');
    expect(explain(locked, [])).toContain(
      'RT0005 the directory /data is locked\n       Stop the other',
    );
    expect(explain(new EngineError('RT0002', 'a\nb'), [])).toContain('RT0002 a\n       b\n');
    expect(explain(new Error('surprise'), [])).toContain('explain.test.ts');
  });
});

describe('taken ports', () => {
  it('are all named at once, and free ones are not', () =>
    withTakenPort(async (port) => {
      const text = await explainTakenPorts([
        { ...wanted(port), code: 'RT0004' },
        { ...wanted(port), purpose: 'the example', code: undefined },
      ]);
      expect(text).toMatch(/^RT0004 Port[^]*\nPort \d+, for the example/);
      expect(await explainTakenPorts([{ ...wanted(0), code: 'RT0004' }])).toBeUndefined();
    }));

  it('have no owner when nobody listens', () => {
    expect(portOwner(1)).toBeUndefined();
  });
});
