/**
 * What the metadata store should hold: name, version and checksum of every document, in a file beside the store. LevelDB drops
 * damaged records of its write-ahead file without a word and does not check what it reads from its tables; with the ledger no
 * document is lost or changed unnoticed.
 *
 * The store is written first. So after a crash one document may be one version ahead of the ledger, never behind.
 */

import { createHash } from 'node:crypto';

import { EngineError } from '@engine/domain';
import type { MetadataEntry } from '@engine/metadata';

import { readWhole, writeWhole } from './whole-file.js';

const LEDGER_FILE = 'DOCUMENTS';

interface Line {
  readonly version: bigint;
  readonly checksum: string;
}

/** Where LevelMetadataStore tells what it wrote. */
export interface DocumentLedger {
  /** Resolves when the line of the document is durable. */
  record(name: string, entry: MetadataEntry): Promise<void>;
}

export const NO_LEDGER: DocumentLedger = { record: () => Promise.resolve() };

export class FileLedger implements DocumentLedger {
  readonly #directory: string;
  readonly #lines: Map<string, Line>;

  private constructor(directory: string, lines: Map<string, Line>) {
    this.#directory = directory;
    this.#lines = lines;
  }

  /** Empty when the directory has none. Throws EngineError META0005 when the file is damaged. */
  static async open(directory: string): Promise<FileLedger> {
    const text = await readWhole(directory, LEDGER_FILE);
    const lines = text === undefined ? new Map<string, Line>() : parse(text, directory);
    return new FileLedger(directory, lines);
  }

  /**
   * Compares the documents in the store with the ledger. Throws EngineError META0005 naming the first one that is missing,
   * older than it was, or changed. Takes over what is ahead.
   */
  async verify(read: (name: string) => Promise<MetadataEntry | undefined>): Promise<void> {
    for (const [name, line] of [...this.#lines]) {
      const entry = await read(name);
      const problem = problemOf(entry, line);
      if (problem !== undefined) {
        throw damaged(`document '${name}' in ${this.#directory} ${problem}`);
      }
      if (entry !== undefined && entry.version > line.version) await this.record(name, entry);
    }
  }

  async record(name: string, entry: MetadataEntry): Promise<void> {
    this.#lines.set(name, { version: entry.version, checksum: checksumOf(entry.value) });
    await writeWhole(this.#directory, LEDGER_FILE, format(this.#lines));
  }
}

function problemOf(entry: MetadataEntry | undefined, line: Line): string | undefined {
  if (entry === undefined) return 'is missing';
  if (entry.version === line.version) {
    return checksumOf(entry.value) === line.checksum ? undefined : 'is damaged';
  }
  if (entry.version === line.version + 1n) return undefined;
  return `has version ${String(entry.version)} and should have ${String(line.version)}`;
}

/** A line for each document, and a checksum over all of them. */
function format(lines: ReadonlyMap<string, Line>): string {
  const body = [...lines]
    .map(([name, { version, checksum }]) => `${String(version)} ${checksum} ${name}\n`)
    .join('');
  return `${body}${checksumOf(body)}\n`;
}

function parse(text: string, directory: string): Map<string, Line> {
  const end = text.lastIndexOf('\n', text.length - 2) + 1;
  const body = text.slice(0, end);
  if (text.slice(end).trim() !== checksumOf(body)) {
    throw damaged(`the list of documents in ${directory} is damaged`);
  }
  const lines = new Map<string, Line>();
  for (const [, version = '', checksum = '', name = ''] of body.matchAll(/^(\d+) (\w+) (.*)$/gm)) {
    lines.set(name, { version: BigInt(version), checksum });
  }
  return lines;
}

function checksumOf(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex');
}

function damaged(message: string): EngineError {
  return new EngineError('META0005', `the metadata cannot be read: ${message}`);
}
