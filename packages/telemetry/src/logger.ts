import { pino } from 'pino';
import { levelOf, parseLogFilter, type LogFilter } from './log-filter.js';
import { formatLine } from './log-line.js';

/** Facts first, then a sentence: `log.warn({ partition, err }, 'append refused')`. An error goes under `err`. */
export interface LogMethod {
  (facts: object, message: string): void;
  (message: string): void;
}

export interface Logger {
  readonly trace: LogMethod;
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
  readonly fatal: LogMethod;
  isLevelEnabled(level: string): boolean;
}

/** `pretty`: short and coloured on a terminal · `compact`: one plain line each · `json`: one object a line. */
export type LogFormat = 'pretty' | 'compact' | 'json';

export interface LogSink {
  write(text: string): void;
  readonly isTTY?: boolean;
}

export interface LogOptions {
  /** See parseLogFilter. */
  readonly filter?: string;
  readonly format?: LogFormat;
  /** Default: standard error, so that standard output stays the program's own. */
  readonly sink?: LogSink;
}

interface LoggingState {
  filter: LogFilter;
  format: LogFormat;
  sink: LogSink;
}

const state: LoggingState = {
  filter: initialFilter(),
  format: 'pretty',
  sink: process.stderr,
};
const root = pino(
  { base: null, level: 'trace' },
  {
    write: (json: string) => {
      state.sink.write(state.format === 'json' ? json : formatLine(json, lineStyle()));
    },
  },
);
const loggers = new Map<string, pino.Logger>();

/** The logger of one part, named `<room>:<part>`; the same name gives the same logger. Logging never throws. */
export function createLogger(name: string): Logger {
  const known = loggers.get(name);
  if (known !== undefined) return known;
  const logger = root.child({ name }, { level: levelOf(state.filter, name) });
  loggers.set(name, logger);
  return logger;
}

/**
 * Applies to loggers that exist and to those to come. Before the first call: ENGINE_LOG_FILTER, else ENGINE_LOG_LEVEL,
 * else `info`.
 * Throws RT0002 when the filter can't be read; then nothing changed.
 */
export function configureLogging(options: LogOptions): void {
  if (options.filter !== undefined) state.filter = parseLogFilter(options.filter);
  if (options.format !== undefined) state.format = options.format;
  if (options.sink !== undefined) state.sink = options.sink;
  for (const [name, logger] of loggers) logger.level = levelOf(state.filter, name);
}

// Whoever reads the configuration reports a bad value; until then loggers have to exist.
function initialFilter(): LogFilter {
  try {
    return parseLogFilter(
      process.env['ENGINE_LOG_FILTER'] ?? process.env['ENGINE_LOG_LEVEL'] ?? 'info',
    );
  } catch {
    return parseLogFilter('info');
  }
}

function lineStyle(): { colour: boolean } {
  const colour = state.format === 'pretty' && state.sink.isTTY === true;
  return { colour: colour && process.env['NO_COLOR'] === undefined };
}
