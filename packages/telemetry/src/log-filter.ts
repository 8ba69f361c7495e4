import { EngineError } from '@engine/domain';

/** From the loudest to none at all. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Which loggers say how much. */
export interface LogFilter {
  readonly level: LogLevel;
  /** Logger name, or the front of one up to a colon → its level. The longest name wins. */
  readonly byName: ReadonlyMap<string, LogLevel>;
}

/**
 * Reads `level` or a comma-separated list of `level` and `name=level`, such as `warn,worker=debug,worker:invoker=trace`.
 * What names no level of its own is at `info`. Throws RT0002 naming the part that is neither.
 */
export function parseLogFilter(text: string): LogFilter {
  let level: LogLevel = 'info';
  const byName = new Map<string, LogLevel>();
  for (const part of text.split(',').map((piece) => piece.trim())) {
    if (part === '') continue;
    const [left = '', right] = part.split('=').map((side) => side.trim());
    if (right === undefined) level = toLevel(left);
    else byName.set(left, toLevel(right));
  }
  return { level, byName };
}

/** The level of one logger: its own, else that of the nearest name in front of a colon, else the filter's. */
export function levelOf(filter: LogFilter, name: string): LogLevel {
  for (let end = name.length; end > 0; end = name.lastIndexOf(':', end - 1)) {
    const level = filter.byName.get(name.slice(0, end));
    if (level !== undefined) return level;
  }
  return filter.level;
}

function toLevel(text: string): LogLevel {
  const lower = text.toLowerCase();
  const word = lower === 'off' ? 'silent' : lower;
  const level = LOG_LEVELS.find((known) => known === word);
  if (level !== undefined) return level;
  throw new EngineError('RT0002', `"${text}" is no log level; use one of ${LOG_LEVELS.join(', ')}`);
}
