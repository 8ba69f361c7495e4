// What `npm start` runs. Takes the flags of `engine server`.
import { HELP, readArguments } from '../arguments.js';
import { startEngine } from '../roles/start-engine.js';
import { start } from '../start/start.js';

const asked = readArguments(['server', ...process.argv.slice(2)]);
if (asked.kind === 'server') {
  process.exitCode = await start(
    { file: asked.configFile, env: process.env, flags: asked.flags },
    startEngine,
  );
} else {
  process.stdout.write(`${asked.kind === 'usage' ? asked.problem : HELP}\n`);
  process.exitCode = asked.kind === 'usage' ? 2 : 0;
}
