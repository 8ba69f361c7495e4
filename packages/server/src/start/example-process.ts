import { fork, type ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { EngineError } from '@engine/domain';

/** The example deployment in a process of its own, on this Node. It ends when this process does, however that happens. */
export interface ExampleProcess extends AsyncDisposable {
  /** What to register. */
  readonly uri: string;
  /** Resolves with its exit status when it ends by itself. */
  readonly ended: Promise<number>;
}

/** Resolves when the deployment listens. Rejects when it ends before. */
export async function startExample(port: number): Promise<ExampleProcess> {
  const child = fork(mainFile(), [], {
    env: { ...process.env, PORT: String(port) },
    // Its console belongs to the one terminal.
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = new Promise<number>((resolve) => {
    child.once('exit', (code) => {
      resolve(code ?? 1);
    });
  });
  await listening(child, ended);
  return {
    uri: `http://127.0.0.1:${port}`,
    ended,
    [Symbol.asyncDispose]: async () => {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

async function listening(child: ChildProcess, ended: Promise<number>): Promise<void> {
  const answer = new Promise<void>((resolve, reject) => {
    child.once('message', (message: { kind: string; message?: string }) => {
      if (message.kind === 'listening') resolve();
      else reject(failure(`can't listen: ${message.message ?? ''}`));
    });
  });
  const early = ended.then((status) => {
    throw failure(`ended with status ${status} before it listened`);
  });
  await Promise.race([answer, early]);
}

function failure(what: string): EngineError {
  return new EngineError('unavailable', `the example deployment ${what}`);
}

function mainFile(): string {
  const require = createRequire(import.meta.url);
  return join(dirname(require.resolve('@engine/example')), 'main.js');
}
