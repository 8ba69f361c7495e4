// The example deployment as a process of its own. Listens on PORT (9080), says so to its parent, and ends with it.
import { serve, type LoggerTransport } from '@restatedev/restate-sdk';
import { counter, greeter, signup } from './index.js';

const port = Number(process.env['PORT'] ?? 9080);

/** What handlers say goes to the terminal, once: not again when they are replayed. Of the SDK itself only failures do. */
const logger: LoggerTransport = (about, ...message: unknown[]) => {
  // The SDK declares these as enums but exports only their types.
  const source: string = about.source;
  const level: string = about.level;
  const isWanted = source === 'USER' ? !about.replaying : level === 'error';
  if (isWanted) console.info(`[${about.context?.invocationTarget ?? 'example'}]`, ...message);
};

try {
  const listening = await serve({ services: [greeter, counter, signup], port, logger });
  process.send?.({ kind: 'listening', port: listening });
} catch (error) {
  process.send?.({ kind: 'failed', message: String(error) });
  process.exitCode = 1;
}

// The channel closes when the parent is gone, however it went: nothing is left holding the port.
process.on('disconnect', () => process.exit());
// Ctrl-C reaches every process of the terminal; this one goes on until the engine has drained.
process.on('SIGINT', () => undefined);
