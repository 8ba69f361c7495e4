// Finds or makes a nats-server that can hold the logs of a cluster. `node tools/nats-server.mjs` prints its path; with --find it
// builds nothing. In order: NATS_SERVER (a path), the PATH, one that was built before, one built now with the Go toolchain.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdirSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

// Below it, clustered compare-and-set let two writers win (2.9), or one sync per message was too slow to group (2.12).
export const NATS_VERSION_MIN = [2, 14];
// What is built where the machine has none.
const NATS_VERSION_PINNED = '2.15.2';
const MODULE = `github.com/nats-io/nats-server/v2@v${NATS_VERSION_PINNED}`;
const BUILT_DIR = join(root, 'node_modules', '.cache', `nats-server-${NATS_VERSION_PINNED}`);

/** The one line for people whose machine has no server that will do. */
export const NATS_SERVER_ADVICE =
  `A cluster needs nats-server ${NATS_VERSION_MIN.join('.')} or newer: put it on the PATH (releases of nats-io/nats-server), ` +
  'name it in NATS_SERVER, or install Go and run `node tools/nats-server.mjs`, which builds it.';

/**
 * The path of a server that is new enough. `build`: may use the Go toolchain, which takes a minute or two the first time.
 * `{ path }` or `{ problem }`, one line that says what is missing.
 */
export function findNatsServer({ build = true, log = () => undefined } = {}) {
  const named = process.env.NATS_SERVER;
  if (named !== undefined && named !== '') return judge(named) ?? tooOld(named);
  const seen = [];
  for (const path of candidates()) {
    const found = judge(path);
    if (found !== undefined) return found;
    seen.push(path);
  }
  if (!build) return missing(seen);
  const go = goToolchain();
  if (go === undefined) return missing(seen);
  log(
    `Building nats-server ${NATS_VERSION_PINNED} with ${go}. This is needed once and takes a minute or two.`,
  );
  return buildWith(go) ?? missing(seen);
}

function candidates() {
  const onPath = (process.env.PATH ?? '').split(delimiter).filter((dir) => dir !== '');
  return [...onPath.map((dir) => join(dir, 'nats-server')), join(BUILT_DIR, 'nats-server')].filter(
    isExecutable,
  );
}

function judge(path) {
  const version = versionOf(path);
  if (version === undefined || !isNewEnough(version)) return undefined;
  return { path, version: version.join('.') };
}

function versionOf(path) {
  const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  const match = status === 0 ? /v(\d+)\.(\d+)\.(\d+)/.exec(stdout) : undefined;
  return match?.slice(1).map(Number);
}

function isNewEnough([major, minor]) {
  const [majorMin, minorMin] = NATS_VERSION_MIN;
  return major > majorMin || (major === majorMin && minor >= minorMin);
}

function goToolchain() {
  const paths = ['go', '/usr/local/go/bin/go'];
  return paths.find((path) => spawnSync(path, ['version']).status === 0);
}

function buildWith(go) {
  // Beside the place first: a build that was interrupted leaves nothing that looks whole.
  const fresh = `${BUILT_DIR}.${process.pid}`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  const env = { ...process.env, GOBIN: fresh, CGO_ENABLED: '0' };
  const { status } = spawnSync(go, ['install', MODULE], { env, stdio: ['ignore', 2, 2] });
  if (status === 0) {
    rmSync(BUILT_DIR, { recursive: true, force: true });
    renameSync(fresh, BUILT_DIR);
  }
  rmSync(fresh, { recursive: true, force: true });
  return status === 0 ? judge(join(BUILT_DIR, 'nats-server')) : undefined;
}

function missing(seen) {
  const found = seen.length === 0 ? '' : ` (too old: ${seen.join(', ')})`;
  return { problem: NATS_SERVER_ADVICE + found };
}

function tooOld(path) {
  return {
    problem: `NATS_SERVER is ${path}, which does not run or is too old. ${NATS_SERVER_ADVICE}`,
  };
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const build = !process.argv.includes('--find');
  const found = findNatsServer({ build, log: (line) => process.stderr.write(`${line}\n`) });
  if (found.path === undefined) process.stderr.write(`${found.problem}\n`);
  else process.stdout.write(`${found.path}\n`);
  process.exitCode = found.path === undefined ? 1 : 0;
}
