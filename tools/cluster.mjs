// `npm run cluster -- <options>`: NATS, ingress, admin and workers as processes of this machine, after whatever set-up is missing.
//
// Two processes: this one owns the terminal, and a second one (cluster/main.mjs) leads a process group of its own with everything
// else in it. So Ctrl-C reaches this one alone, which asks for an orderly stop; and whichever of the two is killed, the
// other one kills the group: nothing is left behind.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { giveUp, nodeEnv, pinnedNode, root, setUp } from './bootstrap.mjs';
import { HELP, readOptions } from './cluster/options.mjs';

// npm passes Ctrl-C on, so one key press arrives twice.
const ECHO_MS = 400;

const options = readOptions(process.argv.slice(2), process.env);
if (options.help === true) {
  process.stdout.write(HELP);
} else if (options.problem !== undefined) {
  process.exitCode = 2;
  process.stderr.write(`${options.problem}\nSee \`npm run cluster -- --help\`.\n`);
} else {
  setUp();
  lead(options);
}

function lead(options) {
  const group = spawn(
    pinnedNode(),
    [join(root, 'tools/cluster/main.mjs'), JSON.stringify(options)],
    {
      // The pipe carries nothing: its end tells the group that this process is gone.
      stdio: ['pipe', 'inherit', 'inherit'],
      detached: true,
      env: nodeEnv(),
    },
  );
  group.on('error', ({ message }) => giveUp(`the cluster could not be started: ${message}`));
  let stopAsked;
  const onSignal = () => {
    const now = performance.now();
    if (stopAsked === undefined) {
      stopAsked = now;
      group.kill('SIGTERM');
    } else if (now - stopAsked > ECHO_MS) {
      killGroup(group.pid);
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, onSignal);
  group.on('exit', (code, signal) => {
    killGroup(group.pid);
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}

function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody is left in it.
  }
}
