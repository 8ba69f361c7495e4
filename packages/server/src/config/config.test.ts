import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { directoriesOf, isTopLevelKey, listenAddressOf, readConfig } from './config.js';
import { loadConfig } from './load.js';
import { handlerDefaults, workerSettings } from '../roles/settings.js';
import { settingsOfEnvironment, settingsOfFlags, settingsOfToml } from './source.js';

const ofToml = (text: string) => readConfig(settingsOfToml(text, 'engine.toml')).config;

describe('configuration', () => {
  it('has a default for every key', () => {
    const { config } = readConfig([]);
    expect(config).toMatchObject({
      roles: ['ingress', 'admin', 'worker'],
      baseDir: './engine-data',
      defaultJournalRetention: 86_400_000,
      ingress: { bindPort: 8080, requestSizeLimit: 33_554_432 },
      worker: { invoker: { abortTimeout: 600_000, concurrentInvocationsLimit: 1000 } },
      defaultRetryPolicy: { initialInterval: 500, maxAttempts: 70, onMaxAttempts: 'pause' },
    });
    expect(config.ingress.concurrentApiRequestsLimit).toBeUndefined();
    expect(Object.isFrozen(config.worker.invoker)).toBe(true);
  });

  it('reads dashes and underscores, durations, sizes and words for "no limit"', () => {
    const config = ofToml(`
      [worker.invoker]
      message_size_limit = "1 MiB"
      abort-timeout = "PT1M30S"
      [worker.storage_rocksdb]
      path = "/data/store"
      [meta]
      storage_path = "/data/meta"
      [default-retry-policy]
      max-attempts = "unlimited"
    `);
    expect(config.worker.invoker.messageSizeLimit).toBe(1_048_576);
    expect(config.worker.invoker.abortTimeout).toBe(90_000);
    expect(config.defaultRetryPolicy.maxAttempts).toBeUndefined();
    expect(directoriesOf(config)).toMatchObject({ meta: '/data/meta', storage: '/data/store' });
  });

  it('reads the headers that tell deployments apart from a list and from text', () => {
    const { admin } = ofToml('[admin]\ndeployment-routing-headers = ["X-Tenant", "x-stage"]');
    expect(admin.deploymentRoutingHeaders).toEqual(['x-tenant', 'x-stage']);
    const env = { ENGINE_ADMIN__DEPLOYMENT_ROUTING_HEADERS: '[X-Tenant, x-stage]' };
    const { config } = readConfig(settingsOfEnvironment(env, isTopLevelKey).settings);
    expect(config.admin).toMatchObject({
      deploymentRoutingHeaders: ['x-tenant', 'x-stage'],
      concurrentApiRequestsLimit: undefined,
    });
    expect(() => ofToml('[admin]\ndeployment-routing-headers = ["a b"]')).toThrow('a header');
  });

  it('knows the policies of invocations', () => {
    const config = ofToml(`
      default-journal-retention = "0s"
      max-journal-retention = "PT12H"
      max-idempotency-retention = "7 days"
      max_workflow_completion_retention = "1w"
      max-retry-policy-max-attempts = 10
      [default-retry-policy]
      initial-interval = "1s 500ms"
      exponentiation-factor = 1.5
      max-interval = "1m"
      max-attempts = "infinite"
      on-max-attempts = "kill"
      [worker.invoker]
      inactivity-timeout = "0s"
      abort-timeout = "0"
      eager-state-size-limit = 0
    `);
    expect(handlerDefaults(config)).toEqual({
      inactivityTimeoutMs: 0,
      abortTimeoutMs: 0,
      journalRetentionMs: 0,
      idempotencyRetentionMs: 86_400_000,
      workflowCompletionRetentionMs: 86_400_000,
      retryPolicy: {
        initialIntervalMs: 1_500,
        exponentiationFactor: 1.5,
        maxIntervalMs: 60_000,
        maxAttempts: undefined,
        onMaxAttempts: 'kill',
      },
      caps: {
        journalRetentionMs: 43_200_000,
        idempotencyRetentionMs: 7 * 86_400_000,
        workflowCompletionRetentionMs: 7 * 86_400_000,
        retryAttempts: 10,
      },
    });
    expect(workerSettings(config, 1)).toMatchObject({
      eagerStateBytesMax: 0,
      retryPolicy: { maxAttempts: 10 },
    });
  });

  it('knows how deployments are reached', () => {
    const config = ofToml(`
      [worker.invoker]
      request-identity-expiration = "1s"
      request-compression-threshold = "1 MiB"
      aws-profile = "prod"
    `);
    expect(config.worker.invoker).toMatchObject({
      requestIdentityExpiration: 1_000,
      requestCompressionThreshold: 1_048_576,
      awsProfile: 'prod',
    });
    const { settings } = settingsOfEnvironment({ AWS_EXTERNAL_ID: 'ours' }, isTopLevelKey);
    const { awsAssumeRoleExternalId } = readConfig(settings).config.worker.invoker;
    expect(awsAssumeRoleExternalId).toBe('ours');
    expect(settingsOfEnvironment({ AWS_EXTERNAL_ID: '' }, isTopLevelKey).settings).toEqual([]);
  });

  it('RT0002 names the place of a key file that is none', () => {
    const directory = mkdtempSync(join(tmpdir(), 'engine-config-'));
    try {
      const file = join(directory, 'key.pem');
      const text = `[worker.invoker]\nrequest-identity-private-key-pem-file = "${file}"`;
      const place =
        'engine.toml line 2: worker.invoker.request-identity-private-key-pem-file: ' +
        `"${file}": `;
      expect(() => ofToml(text)).toThrow(place);
      expect(() => ofToml(text)).toThrow('ENOENT');
      writeFileSync(file, 'no key');
      expect(() => ofToml(text)).toThrow(`${place}has to hold exactly one PRIVATE KEY block`);
      const { privateKey } = generateKeyPairSync('ed25519');
      writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
      const { config, toml } = readConfig(settingsOfToml(text, 'engine.toml'));
      expect(config.worker.invoker.requestIdentityPrivateKeyPemFile).toBe(file);
      expect(toml).toContain(`request-identity-private-key-pem-file = "${file}"`);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('has no caps unless they are set', () => {
    const caps = Object.values(handlerDefaults(ofToml('')).caps ?? {});
    expect(caps).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('lets the environment win over the file and flags over both', () => {
    const env = {
      ENGINE_INGRESS__BIND_PORT: '1',
      ENGINE_BASE_DIR: '/env',
      ENGINE_ROLES: '[admin]',
    };
    const { config } = readConfig([
      ...settingsOfToml('base-dir = "/file"\n[ingress]\nbind-port = 2\nbind-ip = "::1"', 'f'),
      ...settingsOfEnvironment(env, isTopLevelKey).settings,
      ...settingsOfFlags({ 'base-dir': '/flag' }),
    ]);
    expect(config).toMatchObject({ baseDir: '/flag', roles: ['admin'] });
    expect(config.ingress).toMatchObject({ bindPort: 1, bindIp: '::1' });
  });

  it.each([
    ['a = 1', 'engine.toml line 1: there is no key a'],
    ['\n[worker]\ninvker = 1', 'engine.toml line 3: there is no key worker.invker'],
    [
      '[worker.invoker]\nabort_timeout = 5',
      'engine.toml line 2: worker.invoker.abort-timeout: "5" is not a duration',
    ],
    [
      '[worker]\ncleanup-interval = "0s"',
      'engine.toml line 2: worker.cleanup-interval: has to be longer',
    ],
    [
      'default-num-partitions = 0',
      'engine.toml line 1: default-num-partitions: "0" is not a whole number',
    ],
    ['roles = ["cook"]', 'engine.toml line 1: roles'],
    ['log-filter = "loud"', 'engine.toml line 1: log-filter: "loud" is no log level'],
    ['[ingress]\nbind-address = "unix:/x"', 'engine.toml line 2: ingress.bind-address: "unix:/x"'],
    [
      'max-journal-retention = "1 month"',
      'engine.toml line 1: max-journal-retention: "1 month" is not a duration',
    ],
    [
      'default-idempotency-retention = 10',
      'engine.toml line 1: default-idempotency-retention: "10" is not a duration',
    ],
    [
      'max-retry-policy-max-attempts = 0',
      'engine.toml line 1: max-retry-policy-max-attempts: "0" is neither',
    ],
    [
      '[default-retry-policy]\non-max-attempts = "give-up"',
      'engine.toml line 2: default-retry-policy.on-max-attempts',
    ],
    [
      '[default-retry-policy]\ninitial-interval = "0s"',
      'engine.toml line 2: default-retry-policy.initial-interval: has to be longer',
    ],
    [
      '[default-retry-policy]\nattempts = 3',
      'engine.toml line 2: there is no key default-retry-policy.attempts',
    ],
    [
      '[worker.invoker]\nrequest-identity-expiration = "999ms"',
      'engine.toml line 2: worker.invoker.request-identity-expiration: has to be at least 1s',
    ],
    ['base-dir = ', 'engine.toml line 1, column'],
    ['base-dir = "a"\nbase_dir = "b"', 'base_dir and base-dir are the same key'],
    ['ingress = 4', 'engine.toml line 1: ingress'],
  ])('RT0002 names the place of %j', (text, message) => {
    expect(() => ofToml(text)).toThrow(
      expect.objectContaining({ code: 'RT0002', message: expect.stringContaining(message) }),
    );
  });

  it('names the variable and the flag', () => {
    const env = { ENGINE_WORKER__NOPE: '1', ENGINE_SERVICE_HOST: '10.0.0.1', HOME: '/root' };
    const { settings, ignored } = settingsOfEnvironment(env, isTopLevelKey);
    expect(ignored).toEqual(['ENGINE_SERVICE_HOST']);
    expect(() => readConfig(settings)).toThrow(
      'environment variable ENGINE_WORKER__NOPE: there is',
    );
    expect(() => readConfig(settingsOfFlags({ 'shutdown-timeout': 'soon' }))).toThrow(
      'flag --shutdown-timeout: shutdown-timeout: "soon"',
    );
  });

  it('names a file that is not there', () => {
    expect(() => loadConfig({ file: '/no/such.toml', env: {}, flags: {} })).toThrow(
      '/no/such.toml',
    );
  });

  it('dumps what it would read back the same', () => {
    const first = readConfig([
      ...settingsOfFlags({ roles: 'worker', 'bind-ip': '127.0.0.1' }),
      ...settingsOfToml('max-journal-retention = "36h"', 'f'),
    ]);
    expect(first.toml).toContain('abort-timeout = "10m"');
    expect(first.toml).toContain('request-size-limit = "32 MiB"');
    expect(first.toml).toContain('max-journal-retention = "1d 12h"');
    expect(first.toml).toContain('max-retry-policy-max-attempts = "unlimited"');
    expect(first.toml).not.toContain('max-idempotency-retention');
    const second = readConfig(settingsOfToml(first.toml, 'dump'));
    expect(second).toEqual(first);
  });
});

describe('listen address', () => {
  it.each([
    ['', { host: undefined, port: 8080 }],
    ['bind-ip = "127.0.0.1"', { host: '127.0.0.1', port: 8080 }],
    ['[ingress]\nbind-ip = "::1"\nbind-port = 0', { host: '::1', port: 0 }],
    ['[ingress]\nbind-address = "[::1]:99"', { host: '::1', port: 99 }],
  ])('of %j', (text, address) => {
    expect(listenAddressOf(ofToml(text), 'ingress')).toEqual(address);
  });
});
