/** The composition root. In this folder, and nowhere else, ports meet their adapters. */

import type { ServerConfig } from '../config/config.js';
import type { RunningEngine } from '../running-engine.js';
import { startNode } from './cluster-node.js';
import { startEmbedded } from './embedded.js';

/** Starts what the configuration asks for: a node of a cluster where there are NATS servers, else everything in this process. */
export function startEngine(config: ServerConfig): Promise<RunningEngine> {
  return config.nats.servers.length > 0 ? startNode(config) : startEmbedded(config);
}
