// The lines of all processes as one: each with the name of its process in front, in a colour of its own, and in a file of its own.
import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const COLOURS = [36, 33, 32, 35, 34, 96, 93, 92, 95, 94];
const NAME_WIDTH = 9;

export class LogView {
  #colours = new Map();
  #dir;
  #isColoured;
  #isVerbose;

  /** `dir` gets a file per process, with everything that it ever said. */
  constructor({ dir, isVerbose }) {
    mkdirSync(dir, { recursive: true });
    this.#dir = dir;
    this.#isVerbose = isVerbose;
    this.#isColoured = process.stdout.isTTY === true && (process.env.NO_COLOR ?? '') === '';
  }

  /** A line of the launcher itself. */
  say(line) {
    process.stdout.write(`${line}\n`);
  }

  /** Follows both outputs of a process. `isBusy`: tells whether it is starting or stopping. */
  follow(name, child, isBusy) {
    const file = createWriteStream(join(this.#dir, `${name}.log`), { flags: 'a' });
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        file.write(`${line}\n`);
        if (this.#isVerbose || isWorthShowing(line, isBusy())) this.#show(name, line);
      });
    }
    child.once('close', () => file.end());
  }

  #show(name, line) {
    process.stdout.write(`${this.#painted(name.padEnd(NAME_WIDTH), name)} │ ${line}\n`);
  }

  #painted(text, name) {
    if (!this.#isColoured) return text;
    if (!this.#colours.has(name)) {
      this.#colours.set(name, COLOURS[this.#colours.size % COLOURS.length]);
    }
    return `\u001b[${this.#colours.get(name)}m${text}\u001b[0m`;
  }
}

/**
 * Everything but most of what NATS servers say: of each stream a line, and warnings of each other's absence while they come and go.
 */
function isWorthShowing(line, isBusy) {
  const level = /^\[\d+\] \[(\w{3})\]/.exec(line)?.[1];
  return level === undefined || level === 'FTL' || (!isBusy && ['WRN', 'ERR'].includes(level));
}
