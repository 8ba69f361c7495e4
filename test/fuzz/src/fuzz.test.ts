import { describe, expect, it } from '@jest/globals';

import { describeReport } from './describe-report.js';
import { fuzz } from './fuzz.js';
import { openTarget, type Target } from './target.js';
import { targets } from './targets/index.js';

/** The same inputs in every run; `npm run fuzz` draws a seed. */
const SEED = 1;
const INPUTS = 20_000;
const LIMIT_MS = 120_000;

describe('hostile input', () => {
  it.each(targets.map((target) => [target.name, target] as const))(
    '%s gives a value or a documented error, in bounded time and memory',
    async (_name, target) => {
      const report = await fuzz({ target, seed: SEED, inputs: INPUTS });
      expect(report.findings.length === 0 ? '' : describeReport(report, SEED)).toBe('');
    },
    LIMIT_MS,
  );
});

describe('the fuzzer', () => {
  const broken: Target = {
    name: 'broken',
    open: () =>
      openTarget((chance) => {
        const bytes = chance.bytes(4);
        return {
          bytes,
          run: () => {
            if (bytes[0] === 7) throw new RangeError('seven');
          },
        };
      }),
  };

  it('finds a broken rule and prints the command that shows it again', async () => {
    const report = await fuzz({ target: broken, seed: SEED, inputs: 2_000 });
    const [finding] = report.findings;
    expect(finding?.reason).toContain('RangeError: seven');
    const index = finding?.index ?? -1;
    expect(describeReport(report, SEED)).toContain(
      `npm run fuzz -- --target broken --seed 1 --first ${String(index)} --inputs 1`,
    );
    const replay = await fuzz({ target: broken, seed: SEED, first: index, inputs: 1 });
    expect(replay.findings).toMatchObject([{ index, bytes: finding?.bytes }]);
  });
});
