/** A deployment that knows the public key of the server takes its requests and no others, wherever the real SDK hosts it. */

import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readSigningKey } from '@engine/request-identity';
import { EngineProcess, waitUntil } from '@engine-test/support';

import { call, invocation, register, result, send } from './ask.js';
import { engineEnvironment, HOSTINGS, registration, startHosted } from './hosting.js';
import type { ServiceProcess } from './service-process.js';

const LIMIT_MS = 60_000;

function newKey(): { readonly pem: string; readonly publicKey: string } {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { pem, publicKey: readSigningKey(pem).publicKey };
}

const ours = newKey();
const theirs = newKey();
const directory = mkdtempSync(join(tmpdir(), 'engine-identity-'));
const file = join(directory, 'key.pem');
writeFileSync(file, ours.pem);

afterAll(() => {
  rmSync(directory, { recursive: true });
});

describe.each(HOSTINGS)('a deployment behind %s that checks who asks', (hosting) => {
  let engine: EngineProcess;
  let services: ServiceProcess;

  const host = async (identityKey: string): Promise<void> => {
    const { port } = services;
    await services[Symbol.asyncDispose]();
    services = await startHosted(hosting, { port, identityKey });
  };

  beforeAll(async () => {
    services = await startHosted(hosting, { identityKey: theirs.publicKey });
    engine = await EngineProcess.start({
      ...engineEnvironment(services),
      ENGINE_WORKER__INVOKER__REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE: file,
      ENGINE_LOG_LEVEL: 'info',
      ENGINE_DEFAULT_RETRY_POLICY__MAX_INTERVAL: '100ms',
      ENGINE_DEFAULT_RETRY_POLICY__MAX_ATTEMPTS: 'unlimited',
    });
  }, LIMIT_MS);

  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
    await services[Symbol.asyncDispose]();
  });

  it('refuses to be registered when it expects another key, and the refusal names ours', async () => {
    await waitUntil('the log names our key', () => engine.output.includes(ours.publicKey));
    const refusal = await register(engine, registration(hosting, services));
    expect(refusal).toMatchObject({ status: 500, code: 'META0003' });
    expect(refusal.message).toContain('401');
    expect(refusal.message).toContain(ours.publicKey);
  });

  it(
    'takes signed requests, with and without a key of an object',
    async () => {
      await host(ours.publicKey);
      expect(await register(engine, registration(hosting, services))).toMatchObject({
        status: 201,
      });
      expect(await call(engine, 'Every/run', 'signed')).toBe(42);
      expect(await call(engine, 'Tally/a key%2Fü/add', 5)).toBe(5);
    },
    LIMIT_MS,
  );

  it(
    'refuses invocations once it expects another key, until that is put right',
    async () => {
      await host(theirs.publicKey);
      const id = await send(engine, 'Every/run', 'refused');
      const row = await waitUntil('the refusal shows', async () => {
        const found = await invocation(engine, id);
        return found?.last_failure?.includes('401') === true ? found : undefined;
      });
      expect(row.last_failure_error_code).toBe('RT0012');
      expect(row.last_failure).toContain('it does not accept who this server says it is');
      expect(services.count('refused/first')).toBe(0);
      await host(ours.publicKey);
      expect(await result(engine, id)).toBe(42);
    },
    LIMIT_MS,
  );
});
