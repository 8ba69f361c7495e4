// Turns what stopped the start into lines that say what happened, who is to blame and what to do.
import { isEngineError } from '@engine/domain';
import { portOwner, type PortOwner } from './port-owner.js';

/** A port the engine wants, and how to give it another. */
export interface WantedPort {
  readonly port: number;
  readonly purpose: string;
  readonly variable: string;
}

/** The text for a terminal, without a stack unless nobody expected the error. */
export function explain(error: unknown, wanted: readonly WantedPort[]): string {
  const taken = takenPort(error);
  if (taken !== undefined) {
    const port = wanted.find((each) => each.port === taken.port);
    if (port !== undefined) return explainTakenPort('RT0004', port, portOwner(port.port));
    return `RT0004 ${taken.message}`;
  }
  if (!isEngineError(error))
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  const hint = HINTS[error.code];
  const text = `${error.code} ${error.message.replaceAll('\n', '\n       ')}`;
  return hint === undefined ? text : `${text}\n       ${hint}`;
}

/** `code` is undefined for a port that is not the engine's own. */
export function explainTakenPort(
  code: 'RT0004' | undefined,
  { port, purpose, variable }: WantedPort,
  owner: PortOwner | undefined,
): string {
  const by =
    owner === undefined
      ? 'another process (of another user, or in another container)'
      : `process ${owner.pid}: ${shortened(owner.command)}`;
  const head = code === undefined ? '' : `${code} `;
  return [
    `${head}Port ${port}, for ${purpose}, is taken by ${by}.`,
    `Stop that process, or choose another port: ${variable}=${port + 10_000}`,
  ].join('\n       ');
}

const HINTS: Readonly<Record<string, string>> = {
  RT0002: 'See `engine --help`, or print what is in force with --dump-config.',
  RT0005: 'Stop the other engine, or give this one a directory of its own: ENGINE_BASE_DIR=…',
};

const LISTEN_FAILURES = new Set(['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL']);

/** The port of a failed listen, from an RT0004 or from the platform's error, anywhere in the chain of causes. */
function takenPort(error: unknown): { port: number | undefined; message: string } | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, port, message, details, cause } = error as Partial<ListenFailure>;
  const inner = takenPort(cause);
  if (code !== 'RT0004' && !LISTEN_FAILURES.has(String(code))) return inner;
  return { port: details?.port ?? port ?? inner?.port, message: message ?? '' };
}

// What a failed listen may carry: ours has details, the platform's a port of its own.
interface ListenFailure {
  readonly code: unknown;
  readonly port: number;
  readonly message: string;
  readonly details: { readonly port?: number };
  readonly cause: unknown;
}

function shortened(command: string): string {
  return command.length > 100 ? `${command.slice(0, 99)}…` : command;
}
