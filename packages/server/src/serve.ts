import { configureLogging, createLogger } from '@engine/telemetry';
import { directoriesOf, listenAddressOf, type ServerConfig } from './config/config.js';
import { loadConfig, type ConfigInputs } from './config/load.js';
import { explain, type WantedPort } from './explain.js';
import type { StartEngine } from './running-engine.js';
import { untilStopped } from './until-stopped.js';
import { VERSION } from './version.js';

const log = createLogger('server:process');

/** `engine server`: reads the configuration, starts, serves until a signal. Returns the exit status. */
export async function serve(
  inputs: ConfigInputs & { readonly dumpConfig: boolean },
  start: StartEngine,
): Promise<number> {
  let wanted: readonly WantedPort[] = [];
  try {
    const { config, toml, ignored } = loadConfig(inputs);
    if (inputs.dumpConfig) {
      process.stdout.write(`${toml}\n`);
      return 0;
    }
    wanted = portsOf(config);
    applyLogging(config);
    for (const variable of ignored) log.warn({ variable }, 'not a configuration key; ignored');
    const engine = await start(config);
    announce(config, engine.ports);
    return await untilStopped(engine, config.shutdownTimeout, (signal) => {
      log.info({ signal }, 'stopping; once more to stop at once');
    });
  } catch (error) {
    process.stderr.write(`${explain(error, wanted)}\n`);
    return 1;
  }
}

/** The ports that the roles of this process bind, for messages about one that is taken. */
export function portsOf(config: ServerConfig): WantedPort[] {
  const ports = [
    { role: 'ingress', purpose: 'ingress (calls)', variable: 'ENGINE_INGRESS__BIND_PORT' },
    { role: 'admin', purpose: 'admin', variable: 'ENGINE_ADMIN__BIND_PORT' },
  ] as const;
  return ports
    .filter(({ role }) => config.roles.includes(role))
    .map(({ role, ...rest }) => ({ ...rest, port: listenAddressOf(config, role).port }));
}

export function applyLogging(config: ServerConfig): void {
  configureLogging({ filter: config.logFilter ?? config.logLevel, format: config.logFormat });
}

function announce(
  config: ServerConfig,
  ports: { readonly ingress: number | undefined; readonly admin: number | undefined },
): void {
  const facts = { version: VERSION, pid: process.pid, ...ports, data: directoriesOf(config).node };
  log.info(facts, 'ready');
}
