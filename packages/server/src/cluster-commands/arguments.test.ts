import { describe, expect, it } from '@jest/globals';

import { HELP, readArguments } from '../arguments.js';

const DEFAULT = 'http://127.0.0.1:9070';

describe('engine cluster', () => {
  it.each([
    [['status'], { kind: 'status', isJson: false }],
    [['status', '--json'], { kind: 'status', isJson: true }],
    [['move', '3', 'w1'], { kind: 'move', partition: '3', node: 'w1' }],
    [['unpin', '3'], { kind: 'unpin', partition: '3' }],
    [['drain', 'w1'], { kind: 'drain', node: 'w1' }],
    [['undrain', 'w1'], { kind: 'undrain', node: 'w1' }],
    [['freeze'], { kind: 'freeze' }],
    [['unfreeze'], { kind: 'unfreeze' }],
  ])('%j', (args, command) => {
    expect(readArguments(['cluster', ...args])).toEqual({
      kind: 'cluster',
      command,
      adminUrl: DEFAULT,
      isWaiting: false,
    });
  });

  it('takes the address of an admin', () => {
    const asked = readArguments(['cluster', 'drain', 'w1', '--wait', '--admin-url', 'https://a/']);
    expect(asked).toMatchObject({ adminUrl: 'https://a', isWaiting: true });
  });

  it.each([
    [[], 'needs a command'],
    [['state'], 'there is no command cluster state'],
    [['move', '3'], 'engine cluster move needs the id of a worker'],
    [['move'], 'needs the number of a partition and the id of a worker'],
    [['drain', 'w1', 'w2'], 'what is w2 for?'],
    [['drain', 'w1', '--json'], '--json is for status alone'],
    [['freeze', '--wait'], 'nothing to --wait for'],
    [['status', '--admin-url', 'here'], '--admin-url is no http address: here'],
    [['status', '--base-dir', 'x'], "Unknown option '--base-dir'"],
  ])('refuses %j', (args, problem) => {
    expect(readArguments(['cluster', ...args])).toEqual({
      kind: 'usage',
      problem: expect.stringContaining(problem),
    });
  });

  it('stands on the page of help', () => {
    expect(readArguments(['cluster', '-h'])).toEqual({ kind: 'help' });
    expect(HELP).toMatch(/engine cluster drain <node> +move everything away/);
    expect(HELP).toMatch(/--admin-url <text> +where an admin listens/);
  });
});
