import { describe, expect, it } from '@jest/globals';
import { HELP, readArguments } from './arguments.js';

describe('command line', () => {
  it('takes configuration keys as flags', () => {
    const args = [
      'server',
      '-c',
      'e.toml',
      '--base-dir',
      '/data',
      '--roles=admin',
      '--dump-config',
    ];
    expect(readArguments(args)).toEqual({
      kind: 'server',
      configFile: 'e.toml',
      dumpConfig: true,
      flags: { 'base-dir': '/data', roles: 'admin' },
    });
  });

  it.each([
    [[], 'a command is missing'],
    [['serve'], 'there is no command serve'],
    [['server', 'now'], 'what is now for?'],
    [['server', '--base-dirr', 'x'], "Unknown option '--base-dirr'"],
  ])('refuses %j', (args, problem) => {
    expect(readArguments(args)).toEqual({
      kind: 'usage',
      problem: expect.stringContaining(problem),
    });
  });

  it('helps with each flag', () => {
    expect(readArguments(['server', '--help'])).toEqual({ kind: 'help' });
    expect(readArguments(['-V'])).toEqual({ kind: 'version' });
    expect(HELP).toMatch(/--base-dir <text> +where data is kept/);
  });
});
