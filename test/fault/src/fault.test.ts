/** A few faults of a whole cluster under load, the same each time: nothing lost, nothing doubled, no caller sees an error. */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';
import { natsServerPath } from '@engine-test/support';

import { Chance } from './chance.js';
import { FAULTS } from './faults/faults.js';
import { outcomeLine } from './report/table.js';
import { run } from './run.js';
import { ClusterSystem } from './systems/cluster.js';
import { EmbeddedSystem } from './systems/embedded.js';
import type { System } from './systems/system.js';

const SEED = 7;
const IN_A_CLUSTER = ['worker-kill', 'ingress-kill', 'worker-restart', 'nats-leader-kill'];
const EMBEDDED = ['engine-kill', 'engine-restart'];

const itWithNats = natsServerPath() === undefined ? it.skip : it;

/** Each of the named kinds once; gives what is wrong, one line each. */
async function problemsOf(system: System, names: readonly string[]): Promise<readonly string[]> {
  const lines: string[] = [];
  const { outcomes, verdict } = await run(
    system,
    {
      historyPath: join(mkdtempSync(join(tmpdir(), 'engine-history-')), 'history.jsonl'),
      faults: FAULTS.filter(({ name }) => names.includes(name)).map((fault) => ({
        ...fault,
        weight: 1,
      })),
      faultCount: names.length,
      callers: 12,
      thinkMs: 300,
      onOutcome: (outcome) => {
        lines.push(outcomeLine(outcome));
      },
    },
    new Chance(SEED),
  );
  // How soon somebody is served again is a matter of the machine; here it only has to happen.
  const bad = outcomes.filter(
    ({ fault, failures, problem }) =>
      problem !== undefined || (!fault.mayFail && failures.length > 0),
  );
  return [
    ...(outcomes.length === names.length ? [] : lines),
    ...bad.map(outcomeLine),
    ...verdict.violations.map(({ harm, text }) => `${harm}: ${text}`),
  ];
}

describe(`faults under load, seed ${String(SEED)}`, () => {
  it('of one engine', async () => {
    await using system = await EmbeddedSystem.start();
    expect(await problemsOf(system, EMBEDDED)).toEqual([]);
  }, 180_000);

  itWithNats(
    'of a cluster',
    async () => {
      await using system = await ClusterSystem.start({
        natsCount: 3,
        ingressCount: 2,
        adminCount: 1,
        workerCount: 2,
        partitionCount: 6,
      });
      expect(await problemsOf(system, IN_A_CLUSTER)).toEqual([]);
    },
    300_000,
  );
});
