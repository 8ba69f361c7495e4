// The processes that one launcher runs: started until they are well, watched, stopped when it is asked for.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { LogView } from './log-view.mjs';
import { healthUrl, launchOf } from './nodes.mjs';

const START_LIMIT_MS = 120_000;
const POLL_MS = 100;
const ANSWER_MS = 1_000;

export class Session {
  #settings;
  #view;
  #running = new Map();
  #starting = new Set();
  #stopAsked = Promise.withResolvers();
  #isStopAsked = false;
  #failure = undefined;

  constructor(settings) {
    this.#settings = settings;
    this.#view = new LogView({
      dir: join(settings.dataDir, 'logs'),
      isVerbose: settings.isVerbose,
    });
    for (const signal of ['SIGTERM', 'SIGINT']) {
      process.on(signal, () => {
        this.#isStopAsked = true;
        this.#stopAsked.resolve();
      });
    }
  }

  get isStopAsked() {
    return this.#isStopAsked;
  }

  untilStopAsked() {
    return this.#stopAsked.promise;
  }

  untilEnded(name) {
    return this.#running.get(name)?.ended;
  }

  pid(name) {
    return this.#running.get(name)?.child.pid;
  }

  say(text) {
    this.#view.say(text);
  }

  /**
   * Starts them together and waits until each is well. Rejects with one line when one of them ends before that, or when a stop is
   * asked for.
   */
  async start(names) {
    this.#starting = new Set(names);
    for (const name of names) this.launch(name, launchOf(this.#settings, name));
    for (const name of names) {
      await this.#until(`${name} is up`, () => isWell(healthUrl(this.#settings, name)));
    }
    this.#starting = new Set();
  }

  /** Waits until every partition is led by the worker that the table names, as the admin tells. */
  async untilLed() {
    const url = `http://127.0.0.1:${this.#settings.adminPort}/cluster`;
    await this.#until('every partition is led', async () => {
      const { partitions = [] } = (await ask(url)) ?? {};
      const isLed = ({ leader, replicas }) =>
        replicas.some(({ node, phase }) => node === leader && phase === 'leader');
      return partitions.length > 0 && partitions.every(isLed);
    });
  }

  async #until(what, isSo) {
    const end = performance.now() + START_LIMIT_MS;
    while (!(await isSo())) {
      if (this.#isStopAsked) throw expected('a stop was asked for');
      if (this.#failure !== undefined) throw expected(this.#failure);
      if (performance.now() > end) throw expected(`not within two minutes: ${what}`);
      await Promise.race([pause(POLL_MS), this.#stopAsked.promise]);
    }
  }

  /** `ipc`: with a channel for messages. */
  launch(name, { command, args, env }, { ipc = false } = {}) {
    const stdio = ['ignore', 'pipe', 'pipe', ...(ipc ? ['ipc'] : [])];
    const child = spawn(command, args, { env, stdio });
    const entry = { child, isAsked: false, ended: undefined };
    entry.ended = new Promise((resolve) => {
      const onEnd = (how) => {
        this.#running.delete(name);
        resolve();
        if (!entry.isAsked) this.#onEnd(name, how);
      };
      child.once('exit', (code, signal) => onEnd(signal ?? `status ${code}`));
      child.once('error', ({ message }) => onEnd(message));
    });
    this.#running.set(name, entry);
    this.#view.follow(name, child, () => this.#starting.has(name) || entry.isAsked);
  }

  /** The first message of a process; rejects when it ends instead. */
  async message(name) {
    const { child, ended } = this.#running.get(name);
    const heard = once(child, 'message');
    const early = ended.then(() => Promise.reject(expected(`${name} has ended`)));
    const [message] = await Promise.race([heard, early]);
    if (message.kind === 'failed') throw expected(`${name}: ${message.message}`);
  }

  /** Asks all of them to end, and kills what is left after the limit. Resolves when they are gone. */
  async stop(names, limitMs) {
    await Promise.all(names.map((name) => this.#stopOne(name, limitMs)));
  }

  async #stopOne(name, limitMs) {
    const entry = this.#running.get(name);
    if (entry === undefined) return;
    entry.isAsked = true;
    entry.child.kill('SIGTERM');
    const late = setTimeout(() => {
      this.say(`${name} has not stopped within ${limitMs / 1000} s; it is killed.`);
      entry.child.kill('SIGKILL');
    }, limitMs);
    await entry.ended;
    clearTimeout(late);
  }

  #onEnd(name, how) {
    if (this.#starting.has(name)) this.#failure ??= `${name} has ended (${how})`;
    else this.say(`${name} has ended (${how}). To bring it back: npm run cluster -- join ${name}`);
  }
}

async function isWell(url) {
  return url === undefined || (await ask(url)) !== undefined;
}

/** The answer of a page that is well; an empty one where it says nothing. */
async function ask(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) });
    const text = await response.text();
    if (!response.ok) return undefined;
    return text === '' ? {} : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function expected(line) {
  return Object.assign(new Error(line), { isExpected: true });
}
