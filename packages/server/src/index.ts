export {
  directoriesOf,
  listenAddressOf,
  readConfig,
  type ListenAddress,
  type LoadedConfig,
  type ServerConfig,
} from './config/config.js';
export { loadConfig, type ConfigInputs } from './config/load.js';
export { startEngine } from './roles/start-engine.js';
export type { RunningEngine, StartEngine } from './running-engine.js';
export { VERSION } from './version.js';
