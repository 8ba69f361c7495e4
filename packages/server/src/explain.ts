// Turns what stopped the start into lines that say what happened, who is to blame and what to do.
import { ERROR_CODES, isEngineError } from '@engine/domain';
import { portOwner, type PortOwner } from './port-owner.js';

/** A port the engine wants, and how to give it another. */
export interface WantedPort {
  readonly port: number;
  readonly purpose: string;
  readonly variable: string;
}

/** The text for a terminal, without a stack unless nobody expected the error. It begins with the documented code, if there is one. */
export function explain(error: unknown, wanted: readonly WantedPort[]): string {
  const failure = listenFailure(error);
  if (failure !== undefined) return explainListenFailure(failure, wanted);
  if (!isEngineError(error))
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  const { code, message } = error;
  const isDocumented = (ERROR_CODES as readonly string[]).includes(code);
  const head = isDocumented ? `${code} ${message}` : message;
  const hint = HINTS[code];
  return indented([
    ...head.split('\n'),
    ...(hint === undefined ? [] : [hint]),
    ...(isDocumented ? [pageLine(code)] : []),
  ]);
}

function explainListenFailure(failure: ListenFailure, wanted: readonly WantedPort[]): string {
  const port = wanted.find((each) => each.port === failure.port);
  if (failure.reason !== 'EADDRINUSE' || port === undefined) {
    const purpose = port === undefined ? '' : `, for ${port.purpose}`;
    return indented([`RT0004 ${failure.message}${purpose}`, pageLine('RT0004')]);
  }
  return indented([explainTakenPort('RT0004', port, portOwner(port.port)), pageLine('RT0004')]);
}

function pageLine(code: string): string {
  return `What it means: docs/errors/${code}.md`;
}

function indented(lines: readonly string[]): string {
  return lines.join(LINE_BREAK);
}

/** `code` is undefined for a port that is not the engine's own. */
export function explainTakenPort(
  code: 'RT0004' | undefined,
  { port, purpose, variable }: WantedPort,
  owner: PortOwner | undefined,
): string {
  const by = holder(owner);
  const head = code === undefined ? '' : `${code} `;
  return [
    `${head}Port ${port}, for ${purpose}, is taken by ${by}.`,
    `Stop that process, or choose another port: ${variable}=${port + 10_000}`,
  ].join(LINE_BREAK);
}

function holder(owner: PortOwner | undefined): string {
  if (owner === undefined) return 'another process (of another user, or in another container)';
  if (owner.pid === process.pid) return 'this engine itself, for another of its ports';
  return `process ${owner.pid}: ${shortened(owner.command)}`;
}

const HINTS: Readonly<Record<string, string>> = {
  RT0002: 'See `engine --help`, or print what is in force with --dump-config.',
  META0005: 'Restore the directory from a back-up that was taken while the server stood still.',
  RT0005: 'Stop the other engine, or give this one a directory of its own: ENGINE_BASE_DIR=…',
};

/** Lines after the first stand under its text. */
const LINE_BREAK = '\n       ';

const LISTEN_FAILURES: ReadonlySet<unknown> = new Set([
  'EADDRINUSE',
  'EACCES',
  'EADDRNOTAVAIL',
  'EAFNOSUPPORT',
  'EINVAL',
  'ENOTFOUND',
]);

interface ListenFailure {
  readonly message: string;
  readonly port: number | undefined;
  /** What the platform says, such as EADDRINUSE. */
  readonly reason: unknown;
}

/** From an RT0004 or from the platform's error of a listen, anywhere in the chain of causes. */
function listenFailure(error: unknown): ListenFailure | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, port, message, syscall, details, cause } = error as Partial<ErrorShape>;
  const inner = listenFailure(cause);
  const isPlatforms = syscall === 'listen' || syscall === 'getaddrinfo' || syscall === 'bind';
  if (code === 'RT0004') {
    return {
      message: message ?? '',
      port: details?.port ?? inner?.port,
      reason: inner?.reason,
    };
  }
  if (!isPlatforms || !LISTEN_FAILURES.has(code)) return inner;
  return { message: message ?? '', port: port ?? inner?.port, reason: code };
}

// What a failed listen may carry: ours has details, the platform's a port and a system call.
interface ErrorShape {
  readonly code: unknown;
  readonly port: number;
  readonly message: string;
  readonly syscall: string;
  readonly details: { readonly port?: number };
  readonly cause: unknown;
}

function shortened(command: string): string {
  return command.length > 100 ? `${command.slice(0, 99)}…` : command;
}
