// `npm test`: set-up, then every test and every check. First the build, because end-to-end tests run what it makes. Then two
// lanes, because most machines have at least two cores: jest in one, the checks one after another in the other.
// The last line counts: each jest test is one, each check is one. `--fast` leaves out the tests of the whole system (test/*).
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { binOf, nodeEnv, pinnedNode, root, say, setUp } from './bootstrap.mjs';
import { findNatsServer } from './nats-server.mjs';

setUp({ build: false });
// Suites against real servers are skipped without it, and say so.
const natsServer = findNatsServer({ log: say });
if (natsServer.path === undefined) say(natsServer.problem);

// How long jest may take to end after it has written its results.
const JEST_END_MS = 15_000;
const fast = process.argv.includes('--fast');
const cache = join(root, 'node_modules/.cache');
const results = join(cache, 'jest-results.json');

const build = ['types', [binOf('tsc', 'typescript'), '-b']];
const checks = [
  ['types of tests', [binOf('tsc', 'typescript'), '-p', 'tsconfig.test.json']],
  [
    'lint',
    [binOf('eslint'), '.', '--quiet', '--cache', '--cache-location', join(cache, 'eslint/')],
  ],
  ['boundaries', [binOf('depcruise', 'dependency-cruiser'), 'packages']],
  ['unused code', [binOf('knip')]],
  ['format', [binOf('prettier'), '--check', '--cache', '.', '--log-level', 'warn']],
  ['generated code', ['tools/gen.mjs', '--check']],
  ['contracts', [binOf('buf', '@bufbuild/buf'), 'lint', 'proto']],
];

mkdirSync(cache, { recursive: true });
const built = await runChecks([build]);
const [checked, tested] = await Promise.all([runChecks(checks), runJest()]);
const total = {
  passed: built.passed + checked.passed + tested.passed,
  failed: built.failed + checked.failed + tested.failed,
  skipped: tested.skipped,
};
process.exitCode = total.failed === 0 ? 0 : 1;
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);

async function runChecks(list) {
  const count = { passed: 0, failed: 0 };
  for (const [name, args] of list) {
    const started = Date.now();
    const { status, output } = await run(args, { quiet: true });
    const verdict = status === 0 ? 'ok    ' : 'FAILED';
    say(`${verdict} ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
    if (status !== 0) say(output);
    count[status === 0 ? 'passed' : 'failed'] += 1;
  }
  return count;
}

/**
 * In one process: the checks have the other core, and results that hold a bigint can't travel between jest's processes.
 * A test that leaves something open would keep jest from ending; that counts as one failure.
 */
async function runJest() {
  rmSync(results, { force: true });
  const only = fast
    ? ['--ignoreProjects', 'test/simulation', 'test/e2e', 'test/fault', 'test/bench']
    : [];
  const args = ['--runInBand', '--json', `--outputFile=${results}`, '--passWithNoTests', ...only];
  const { status } = await run([binOf('jest'), ...args], { quiet: false, until: results });
  return countOf(readResults(), status);
}

function countOf(report, status) {
  const passed = report.numPassedTests ?? 0;
  // A file that can't be loaded has no tests to fail; it counts as one that failed.
  const reported = (report.numFailedTests ?? 0) + (report.numRuntimeErrorTestSuites ?? 0);
  const failed = reported === 0 && status !== 0 ? 1 : reported;
  return { passed, failed, skipped: (report.numPendingTests ?? 0) + (report.numTodoTests ?? 0) };
}

function readResults() {
  try {
    return JSON.parse(readFileSync(results, 'utf8'));
  } catch {
    return {};
  }
}

/**
 * Jest's own lines go to standard error as they come; a check is silent unless it fails. With `until`, the child is ended when it
 * outlives that file by JEST_END_MS.
 */
function run(args, { quiet, until }) {
  return new Promise((resolve) => {
    const stdio = quiet ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'ignore', 'inherit'];
    const child = spawn(pinnedNode(), args, { cwd: root, stdio, env: nodeEnv() });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => (output += text));
    }
    const stopWatching = until === undefined ? () => undefined : endWhenDone(child, until);
    child.on('close', (code) => {
      stopWatching();
      resolve({ status: code ?? 1, output });
    });
  });
}

function endWhenDone(child, file) {
  let late;
  const watch = setInterval(() => {
    if (late !== undefined || !existsSync(file)) return;
    late = setTimeout(() => {
      say('jest has results but does not end: a test has left something open.');
      child.kill('SIGKILL');
    }, JEST_END_MS);
  }, 500);
  return () => {
    clearInterval(watch);
    clearTimeout(late);
  };
}
