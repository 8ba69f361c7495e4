/** Random JSON texts and values, also of the kinds that trip readers: deep, with odd keys, with numbers at the edges. */

import type { Chance } from './chance.js';

const ODD_KEYS = ['__proto__', 'constructor', 'prototype', 'toString', '', 'name', 'length'];
const ODD_NUMBERS = [
  '-0',
  '1e999',
  '-1e999',
  '1e-400',
  '0.1',
  '-1',
  '2147483648',
  '9007199254740993',
  '1e308',
];

/** The text of any JSON value; `depth` bounds how deep it is. */
export function jsonText(chance: Chance, depth = 4): string {
  switch (chance.below(depth <= 0 ? 4 : 6)) {
    case 0:
      return chance.pick(['null', 'true', 'false', '{}', '[]', '""']);
    case 1:
      return chance.yes() ? chance.pick(ODD_NUMBERS) : String(chance.number());
    case 2:
    case 3:
      return JSON.stringify(
        chance.yes(0.2) ? chance.pick(ODD_KEYS) : chance.text(chance.length(20)),
      );
    case 4:
      return `[${chance.list(chance.below(4), () => jsonText(chance, depth - 1)).join(',')}]`;
    default: {
      const member = (): string => `${jsonKey(chance)}:${jsonText(chance, depth - 1)}`;
      return `{${chance.list(chance.below(4), member).join(',')}}`;
    }
  }
}

export function jsonKey(chance: Chance): string {
  return JSON.stringify(chance.yes(0.4) ? chance.pick(ODD_KEYS) : chance.text(chance.length(8)));
}

/** A value inside of so many arrays or objects. */
export function deepJson(chance: Chance, levels: number): string {
  const [open, close] = chance.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['{"items":', '}'],
    ['{"allOf":[', ']}'],
  ] as const);
  return `${open.repeat(levels)}1${close.repeat(levels)}`;
}
