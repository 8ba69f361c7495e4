import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, describe, expect, it } from '@jest/globals';

import { callerOf, RpcNode } from '../contract/rpc-node.js';
import { ScriptedWorker } from '../contract/scripted-worker.js';
import { until } from '../contract/until.js';
import { sampleRequests } from '../contract/worker-contract.js';
import { RemoteChannel, RPC_MESSAGE_BYTES_MAX, TlsFiles, type TlsOptions } from './index.js';
import { isAllowedSubject } from './subject-names.js';

/** Certificates of the year 2126, made for these tests alone. */
const FILES = join(__dirname, '../contract/tls');

function tlsOf(who: 'worker' | 'ingress' | 'stranger', more: Partial<TlsOptions> = {}): TlsOptions {
  return {
    mode: 'require',
    certFile: join(FILES, `${who}.pem`),
    keyFile: join(FILES, `${who}.key`),
    caFiles: [join(FILES, 'ca.pem')],
    requireClientAuth: false,
    refreshIntervalMs: 3_600_000,
    allowedSubjectNames: [],
    ...more,
  };
}

let ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.reverse()) end();
  ends = [];
});

/** True when a request of a caller with `near` is answered by a server with `far`. */
async function isReached(
  near: TlsOptions | undefined,
  far: TlsOptions | undefined,
): Promise<boolean> {
  const worker = new ScriptedWorker();
  worker.answer = () => ({ kind: 'not-found' });
  const node = await RpcNode.start(worker, far === undefined ? {} : { tls: far });
  const caller = callerOf(near === undefined ? {} : { tls: near });
  return reaches(node, caller);
}

async function reaches(node: RpcNode, caller: ReturnType<typeof callerOf>): Promise<boolean> {
  const to = { address: node.address, messageBytesMax: RPC_MESSAGE_BYTES_MAX };
  let failures = 0;
  const scheduler = {
    ...caller.scheduler,
    after: (ms: number, fn: () => void) => {
      // The wait before the next attempt: this one has failed.
      if (ms <= 1_000) failures += 1;
      return caller.scheduler.after(ms, fn);
    },
  };
  const channel = new RemoteChannel(to, { ...caller, scheduler });
  ends.push(
    () => node.server.kill(),
    () => channel.stop(),
  );
  channel.start();
  await until('open or refused', () => channel.isOpen || failures > 0);
  if (!channel.isOpen) return false;
  const [request] = sampleRequests(1);
  let isAnswered = false;
  channel.send(request!, () => {
    isAnswered = true;
  });
  await until('answered', () => isAnswered);
  return true;
}

describe('connections between nodes', () => {
  const modes = ['off', 'allow', 'prefer', 'require'] as const;

  it.each(
    modes.flatMap((near) =>
      modes.map((far) => {
        const isTls = near === 'prefer' || near === 'require';
        const isFine = isTls ? far !== 'off' : far !== 'require';
        return [near, far, isFine] as const;
      }),
    ),
  )('from mode %s to mode %s: %s', async (near, far, isFine) => {
    expect(await isReached(tlsOf('ingress', { mode: near }), tlsOf('worker', { mode: far }))).toBe(
      isFine,
    );
  });

  it('a certificate of another authority is refused on either end', async () => {
    expect(await isReached(tlsOf('ingress'), tlsOf('stranger'))).toBe(false);
    const strict = tlsOf('worker', { requireClientAuth: true });
    expect(await isReached(tlsOf('stranger'), strict)).toBe(false);
    expect(await isReached(tlsOf('ingress'), strict)).toBe(true);
  });

  it('only allowed subject names are let in, and talked to', async () => {
    const only = (...names: string[]): TlsOptions =>
      tlsOf('worker', { requireClientAuth: true, allowedSubjectNames: names });
    expect(await isReached(tlsOf('ingress'), only('ingress-*.engine'))).toBe(true);
    expect(await isReached(tlsOf('ingress'), only('admin-*.engine'))).toBe(false);
    const picky = (name: string): TlsOptions => tlsOf('ingress', { allowedSubjectNames: [name] });
    expect(await isReached(picky('worker-*.engine'), tlsOf('worker'))).toBe(true);
    expect(await isReached(picky('worker-2.engine'), tlsOf('worker'))).toBe(false);
  });

  it('renewed files come into use without a restart', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'engine-tls-'));
    ends.push(() => {
      rmSync(directory, { recursive: true });
    });
    const [certFile, keyFile] = [join(directory, 'node.pem'), join(directory, 'node.key')];
    const install = (who: string): void => {
      copyFileSync(join(FILES, `${who}.pem`), certFile);
      copyFileSync(join(FILES, `${who}.key`), keyFile);
    };
    install('stranger');
    const tls = tlsOf('worker', { certFile, keyFile, refreshIntervalMs: 0 });
    const node = await RpcNode.start(new ScriptedWorker(), { tls });
    ends.push(() => node.server.kill());
    const to = { address: node.address, messageBytesMax: RPC_MESSAGE_BYTES_MAX };
    const channel = new RemoteChannel(to, callerOf({ tls: tlsOf('ingress') }));
    ends.push(() => channel.stop());
    channel.start();
    install('worker');
    await until('the renewed certificate is shown', () => channel.isOpen);
  });

  it('files that cannot be read are a mistake in the configuration', () => {
    const clock = { now: () => 0, monotonic: () => 0 };
    const open = (): TlsFiles => new TlsFiles(tlsOf('worker', { keyFile: '/no/such.key' }), clock);
    expect(open).toThrow(expect.objectContaining({ code: 'RT0002' }) as unknown as Error);
  });

  it('files that break later leave the last ones in force', () => {
    let now = 0;
    const directory = mkdtempSync(join(tmpdir(), 'engine-tls-'));
    const keyFile = join(directory, 'node.key');
    copyFileSync(join(FILES, 'worker.key'), keyFile);
    const options = tlsOf('worker', { keyFile, refreshIntervalMs: 100 });
    const files = new TlsFiles(options, { now: () => now, monotonic: () => now });
    const first = files.current();
    rmSync(directory, { recursive: true });
    now = 150;
    expect(files.current()).toBe(first);
  });
});

describe('isAllowedSubject', () => {
  const certificate = {
    subject: { CN: 'worker-1.engine' },
    subjectaltname: 'DNS:a.example, IP Address:10.0.0.1',
  } as never;

  it.each([
    ['worker-1.engine', true],
    ['worker-*.engine', true],
    ['WORKER-1.engine', true],
    ['*', true],
    ['10.0.0.*', true],
    ['a.example', true],
    ['workerX1.engine', false],
    ['worker-1', false],
    ['worker-1.engine.evil', false],
    ['aXexample', false],
  ])('%s: %s', (pattern, isAllowed) => {
    expect(isAllowedSubject(certificate, [pattern])).toBe(isAllowed);
    expect(isAllowedSubject({} as never, [pattern])).toBe(false);
  });
});
