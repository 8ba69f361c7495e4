import type { ServerConfig } from './config/config.js';

/** An engine that takes work. Disposing drains it: what was accepted is kept, callers that wait are told to come back. */
export interface RunningEngine extends AsyncDisposable {
  /** The ports really bound, also when 0 was asked. Undefined for a role that runs elsewhere. */
  readonly ports: { readonly ingress: number | undefined; readonly admin: number | undefined };
  /** Resolves with the reason when the engine can't go on by itself; stays pending otherwise. Never rejects. */
  readonly failed: Promise<Error>;
}

/** What the composition root offers. Rejects with a coded error such as RT0004 or RT0005; then nothing is left running. */
export type StartEngine = (config: ServerConfig) => Promise<RunningEngine>;
