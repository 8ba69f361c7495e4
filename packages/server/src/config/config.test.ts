import { describe, expect, it } from '@jest/globals';
import { directoriesOf, isTopLevelKey, listenAddressOf, readConfig } from './config.js';
import { loadConfig } from './load.js';
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
    const first = readConfig(settingsOfFlags({ roles: 'worker', 'bind-ip': '127.0.0.1' }));
    expect(first.toml).toContain('abort-timeout = "10m"');
    expect(first.toml).toContain('request-size-limit = "32 MiB"');
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
