// Registers the example deployment, as anybody would, with what `npm start` uses for it.
import { join } from 'node:path';
import { root } from '../bootstrap.mjs';

/** `{ services, isNew }`. Rejects with the server's own words when it refuses. */
export async function registerExample({ adminPort, examplePort }) {
  // Built code: it is there only after the set-up.
  const { register } = await import(join(root, 'packages/server/dist/start/register.js'));
  return register(`http://127.0.0.1:${adminPort}`, `http://127.0.0.1:${examplePort}`);
}
