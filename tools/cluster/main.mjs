// Leads the process group of a cluster: starts everything, shows its lines as one, and stops it in order. Started by cluster.mjs, with
// the options as its argument.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findNatsServer } from '../nats-server.mjs';
import { exampleLaunch, launchOf, portsOf, roleOf, stagesOf } from './nodes.mjs';
import { registerExample } from './example.mjs';
import { takenPorts } from './ports.mjs';
import { Session } from './session.mjs';
import { joinedScreen, readyScreen } from './screen.mjs';

// Engine processes have a limit of their own (shutdown-timeout, 1m).
const ENGINE_STOP_MS = 75_000;
const NATS_STOP_MS = 10_000;
const EXAMPLE_STOP_MS = 1_000;
const EXAMPLE = 'example';

const options = JSON.parse(process.argv[2]);
// The process that owns the terminal is gone: so is everybody here, at once.
process.stdin.resume().on('close', () => process.kill(-process.pid, 'SIGKILL'));

try {
  await (options.join === undefined ? runCluster(options) : runJoined(options));
  process.exit();
} catch (error) {
  process.stderr.write(`${error.isExpected === true ? error.message : error.stack}\n`);
  process.exit(1);
}

async function runCluster(options) {
  const settings = { ...options, natsServer: natsServer() };
  const stages = stagesOf(settings);
  const names = Object.values(stages).flat();
  await refuseTakenPorts([
    ...names.flatMap((name) => portsOf(settings, name)),
    ...examplePort(settings),
  ]);
  prepareData(settings);
  const session = new Session(settings);
  try {
    await session.start(stages.nats);
    const engines = names.filter((name) => roleOf(name) !== 'nats');
    await session.start(engines);
    await session.untilLed();
    const registration = await startExample(settings, session);
    session.say(readyScreen({ settings, names, registration, pid: (name) => session.pid(name) }));
    await session.untilStopAsked();
  } catch (error) {
    fail(error, session, settings);
  }
  await stopAll(stages, session);
}

/** One more process of a cluster that another launcher runs, in this terminal. */
async function runJoined({ join: name, dataDir, isVerbose }) {
  const settings = { ...savedSettings(dataDir), dataDir, isVerbose };
  await refuseTakenPorts(portsOf(settings, name).map((port) => ({ ...port, remedy: undefined })));
  const session = new Session(settings);
  try {
    await session.start([name]);
    session.say(joinedScreen({ name, pid: session.pid(name) }));
    await Promise.race([session.untilStopAsked(), session.untilEnded(name)]);
  } catch (error) {
    fail(error, session, settings);
  }
  await session.stop([name], roleOf(name) === 'nats' ? NATS_STOP_MS : ENGINE_STOP_MS);
}

function fail(error, session, { dataDir }) {
  if (session.isStopAsked) return;
  process.exitCode = 1;
  const reason = error.isExpected === true ? error.message : error.stack;
  session.say(
    `Not started: ${reason}\nEvery line of every process is in ${join(dataDir, 'logs')}.`,
  );
}

async function stopAll({ worker, ingress, admin, nats }, session) {
  session.say(
    'Stopping workers, ingress, admin, NATS, in this order. Ctrl-C once more to stop at once.',
  );
  for (const names of [worker, ingress, admin]) await session.stop(names, ENGINE_STOP_MS);
  await session.stop([EXAMPLE], EXAMPLE_STOP_MS);
  await session.stop(nats, NATS_STOP_MS);
}

async function startExample(settings, session) {
  if (!settings.withExample) return undefined;
  session.launch(EXAMPLE, exampleLaunch(settings), { ipc: true });
  await session.message(EXAMPLE);
  return registerExample(settings);
}

function examplePort({ withExample, examplePort: port }) {
  return withExample
    ? [{ port, purpose: 'the example', remedy: `EXAMPLE_PORT=${port + 10_000}` }]
    : [];
}

function natsServer() {
  const found = findNatsServer({ log: (line) => process.stderr.write(`${line}\n`) });
  if (found.path === undefined) refuse(found.problem);
  return found.path;
}

async function refuseTakenPorts(wanted) {
  const lines = await takenPorts(wanted);
  if (lines.length > 0) refuse(lines.join('\n'));
}

/** Makes the directory, emptied of an earlier cluster if that is wanted, and keeps in it what others need to join. */
function prepareData(settings) {
  const { dataDir, isFresh } = settings;
  if (isFresh && existsSync(dataDir)) {
    const isOurs = (name) =>
      /^(?:nats|worker|ingress|admin)-\d+$|^logs$|^cluster\.json$/.test(name);
    for (const name of readdirSync(dataDir).filter(isOurs)) {
      rmSync(join(dataDir, name), { recursive: true });
    }
  }
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(join(dataDir, 'cluster.json'), `${JSON.stringify(settings, undefined, 2)}\n`);
}

function savedSettings(dataDir) {
  const file = join(dataDir, 'cluster.json');
  if (!existsSync(file)) refuse(`No cluster runs in ${dataDir}; \`npm run cluster\` starts one.`);
  return JSON.parse(readFileSync(file, 'utf8'));
}

function refuse(line) {
  throw Object.assign(new Error(line), { isExpected: true });
}
