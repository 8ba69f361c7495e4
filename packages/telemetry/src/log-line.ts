/** Turns pino's JSON lines into lines for people: time, level, logger, message, then the facts as key=value. */

const LEVEL_NAMES: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};
const COLOURS: Readonly<Record<number, string>> = {
  10: '90',
  20: '90',
  30: '32',
  40: '33',
  50: '31',
  60: '35',
};
// What every line carries and the front of the line already shows.
const SHOWN = new Set(['level', 'time', 'name', 'msg', 'err']);

export interface LineStyle {
  readonly colour: boolean;
}

export function formatLine(json: string, style: LineStyle): string {
  const record = JSON.parse(json) as Record<string, unknown>;
  const level = typeof record['level'] === 'number' ? record['level'] : 30;
  const paint = (code: string, text: string): string =>
    style.colour ? `\u001b[${code}m${text}\u001b[0m` : text;
  const time = typeof record['time'] === 'number' ? new Date(record['time']).toISOString() : '';
  const head = [
    paint('90', style.colour ? time.slice(11, 23) : time),
    paint(COLOURS[level] ?? '0', (LEVEL_NAMES[level] ?? '').padEnd(5)),
    paint('36', text(record['name'])),
    text(record['msg']),
  ];
  const facts = Object.entries(record)
    .filter(([key]) => !SHOWN.has(key))
    .map(([key, value]) => paint('90', `${key}=${text(value)}`));
  return `${[...head, ...facts].filter((part) => part !== '').join(' ')}${errorLines(record['err'])}\n`;
}

/** What ends a line or steers a terminal: C0, C1, and the two separators of Unicode. */
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

/** As JSON writes a control character, also one that it would let through. */
function escaped(character: string): string {
  const short = JSON.stringify(character).slice(1, -1);
  if (short !== character) return short;
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function text(value: unknown): string {
  if (value === undefined) return '';
  return oneLine(typeof value === 'string' ? value : JSON.stringify(value));
}

/** A record stays one line, whatever somebody's message has in it: it can be searched, and nobody can forge another one. */
function oneLine(value: string): string {
  return value.replaceAll(CONTROL_CHARACTER, escaped);
}

function errorLines(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { stack, message, code } = error as { stack?: unknown; message?: unknown; code?: unknown };
  const head = code === undefined ? '' : ` [${text(code)}]`;
  return `${head}\n${linesOf(stack ?? message).replaceAll(/^/gm, '  ')}`;
}

/** A stack keeps its lines. */
function linesOf(value: unknown): string {
  return typeof value === 'string' ? value.split('\n').map(oneLine).join('\n') : text(value);
}
