// The command `engine`. Started by packages/server/bin/engine or `npm run server`.
import { systemScheduler } from '@engine/runtime';
import { HELP, readArguments } from '../arguments.js';
import { runClusterCommand } from '../cluster-commands/run.js';
import { startEngine } from '../roles/start-engine.js';
import { serve } from '../serve.js';
import { VERSION } from '../version.js';

const status = await main(process.argv.slice(2));
// Everything is disposed. Node would first wait for its own handles, and may wait for ever for a socket that was reset while it ended.
process.exit(status);

async function main(args: readonly string[]): Promise<number> {
  const asked = readArguments(args);
  switch (asked.kind) {
    case 'help':
      process.stdout.write(`${HELP}\n`);
      return 0;
    case 'version':
      process.stdout.write(`engine ${VERSION}\n`);
      return 0;
    case 'usage':
      process.stderr.write(`${asked.problem}\nSee \`engine --help\`.\n`);
      return 2;
    case 'cluster':
      return runClusterCommand(asked, {
        scheduler: systemScheduler,
        print: (text) => process.stdout.write(`${text}\n`),
        complain: (text) => process.stderr.write(`${text}\n`),
      });
    case 'server': {
      const { configFile, dumpConfig, flags } = asked;
      return serve({ file: configFile, env: process.env, flags, dumpConfig }, startEngine);
    }
  }
}
