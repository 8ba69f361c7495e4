import type { Registration } from './register.js';

export interface StartScreen {
  readonly version: string;
  readonly pid: number;
  readonly ingressPort: number;
  readonly adminPort: number;
  readonly exampleUri: string;
  readonly registration: Registration;
  /** Absolute, or relative to where the commands are typed. */
  readonly baseDir: string;
}

/** What `npm start` shows when everything runs: where things are, and three commands to try. */
export function startScreen(screen: StartScreen): string {
  const { version, pid, ingressPort, adminPort, exampleUri, registration, baseDir } = screen;
  const known = registration.isNew ? 'registered just now' : 'was registered already';
  const call = (path: string, body: string, header = ''): string =>
    `curl localhost:${ingressPort}/engine/call/${path} ${header}-H 'content-type: application/json' -d '${body}'`;
  return `
Engine ${version} is ready (process ${pid}).

  ingress   http://localhost:${ingressPort}
  admin     http://localhost:${adminPort}
  example   ${exampleUri}   ${registration.services.join(', ')} (${known})

Try it from another terminal:

  1. A call
     ${call('Greeter/greet', '"World"')}

  2. A durable sleep. While it waits, stop this with Ctrl-C or \`kill -9 ${pid}\`, run \`npm start\` again, and repeat the
     command: it joins the same invocation and gets its answer. (Another key starts another one.)
     ${call('Greeter/remind', '{"text":"Tea is ready","seconds":30}', `-H 'idempotency-key: tea-1' `)}

  3. An object with state; each name counts for itself
     ${call('Counter/ann/add', '5')}

Data lies in ${baseDir}. To start afresh: stop, then rm -rf ${quoted(baseDir)}
Ctrl-C ends the engine and the example.
`;
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
