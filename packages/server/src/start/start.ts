import { resolve } from 'node:path';
import { createLogger } from '@engine/telemetry';
import { loadConfig, type ConfigInputs } from '../config/load.js';
import { explain } from '../explain.js';
import type { RunningEngine, StartEngine } from '../running-engine.js';
import { applyLogging, portsOf } from '../serve.js';
import { untilStopped } from '../until-stopped.js';
import { VERSION } from '../version.js';
import { startExample, type ExampleProcess } from './example-process.js';
import { register } from './register.js';
import { startScreen } from './start-screen.js';
import { explainTakenPorts } from './taken-port.js';

const EXAMPLE_PORT = 9080;
const log = createLogger('server:start');

/** `npm start`: the embedded engine with the example deployment, registered. Returns the exit status. */
export async function start(inputs: ConfigInputs, startEngine: StartEngine): Promise<number> {
  try {
    const { config } = loadConfig(inputs);
    const examplePort = Number(inputs.env['EXAMPLE_PORT'] ?? EXAMPLE_PORT);
    const example = { port: examplePort, purpose: 'the example', variable: 'EXAMPLE_PORT' };
    const ports = portsOf(config);
    const taken = await explainTakenPorts([
      ...ports.map((port) => ({ ...port, code: 'RT0004' as const })),
      { ...example, code: undefined },
    ]);
    if (taken !== undefined) {
      process.stderr.write(`${taken}\n`);
      return 1;
    }
    // The screen says what matters; a log line for everything that goes well would hide it.
    applyLogging(
      inputs.env['ENGINE_LOG_LEVEL'] === undefined ? { ...config, logLevel: 'warn' } : config,
    );
    await using deployment = await startExample(examplePort);
    const engine = await startEngine(config);
    await present(engine, deployment, resolve(config.baseDir));
    let isStopping = false;
    void deployment.ended.then((status) => {
      if (!isStopping) log.error({ status }, 'the example deployment has ended');
    });
    const status = await untilStopped(engine, config.shutdownTimeout, () => {
      process.stdout.write('Stopping; Ctrl-C once more to stop at once.\n');
    });
    isStopping = true;
    return status;
  } catch (error) {
    process.stderr.write(`${explain(error, [])}\n`);
    return 1;
  }
}

async function present(
  engine: RunningEngine,
  deployment: ExampleProcess,
  baseDir: string,
): Promise<void> {
  const { ingress = 0, admin = 0 } = engine.ports;
  try {
    const registration = await register(`http://127.0.0.1:${admin}`, deployment.uri);
    const screen = startScreen({
      version: VERSION,
      pid: process.pid,
      ingressPort: ingress,
      adminPort: admin,
      exampleUri: deployment.uri,
      registration,
      baseDir,
    });
    process.stdout.write(screen);
  } catch (error) {
    await engine[Symbol.asyncDispose]();
    throw error;
  }
}
