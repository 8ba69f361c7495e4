// What is shown when everything runs: where things are, and three commands to try.
import { natsUrls, roleOf } from './nodes.mjs';

export function readyScreen({ settings, names, registration, pid }) {
  const { ingressPort, adminPort, examplePort, dataDir } = settings;
  const workers = names.filter((name) => roleOf(name) === 'worker');
  const [victim] = workers;
  const processes = names.map((name) => `${name} ${pid(name)}`).join(', ');
  return `
The cluster is ready.

  ingress    http://localhost:${ingressPort}
  admin      http://localhost:${adminPort}
  NATS       ${natsUrls(settings).join(' ')}${example(registration, examplePort)}
  processes  ${processes}

Try it from another terminal:

  1. ${firstCommand(settings, registration)}

  2. Who leads which partition
     packages/server/bin/engine cluster status${adminPort === 9070 ? '' : ` --admin-url http://localhost:${adminPort}`}

  3. Lose a worker, repeat the first command, and bring the worker back
     kill -9 ${pid(victim)}
     npm run cluster -- join ${victim}

Data are in ${dataDir}, every line of every process in logs/ there. To start afresh: stop, then npm run cluster -- --fresh
Ctrl-C drains the workers and ends everything.
`;
}

export function joinedScreen({ name, pid }) {
  return `${name} runs (process ${pid}). Ctrl-C ${roleOf(name) === 'worker' ? 'drains and ' : ''}ends it.`;
}

function example(registration, port) {
  if (registration === undefined) return '';
  const known = registration.isNew ? 'registered just now' : 'was registered already';
  return `\n  example    http://127.0.0.1:${port}   ${registration.services.join(', ')} (${known})`;
}

function firstCommand({ ingressPort, adminPort }, registration) {
  const json = "-H 'content-type: application/json'";
  return registration === undefined
    ? `Register services of yours\n     curl localhost:${adminPort}/deployments ${json} -d '{"uri": "http://localhost:9081"}'`
    : `An object with state; each name counts for itself\n     curl localhost:${ingressPort}/engine/call/Counter/ann/add ${json} -d '5'`;
}
