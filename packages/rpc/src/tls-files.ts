/** Certificates and keys from files, read again after a while so that renewed ones come into use without a restart. */

import { readFileSync } from 'node:fs';

import { EngineError } from '@engine/domain';
import type { Clock } from '@engine/runtime';

import { onTlsFilesUnreadable } from './events.js';

/**
 * What connections between nodes are made of; rolled out in this order. `off`: plain text. `allow`: both are accepted, plain text
 * is used. `prefer`: both are accepted, TLS is used. `require`: TLS alone.
 */
export type TlsMode = 'off' | 'allow' | 'prefer' | 'require';

export interface TlsOptions {
  readonly mode: TlsMode;
  readonly certFile: string;
  readonly keyFile: string;
  /** Empty: the system's authorities. */
  readonly caFiles: readonly string[];
  /** Whether callers have to show a certificate of these authorities. */
  readonly requireClientAuth: boolean;
  readonly refreshIntervalMs: number;
  /** Names that the other end's certificate may have, `*` stands for one label or more. Empty: servers by host name, clients any. */
  readonly allowedSubjectNames: readonly string[];
}

export interface TlsMaterial {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer | undefined;
}

export class TlsFiles {
  readonly options: TlsOptions;
  readonly #clock: Clock;
  #material: TlsMaterial;
  #readAt: number;

  /** Throws EngineError RT0002 when a file cannot be read. */
  constructor(options: TlsOptions, clock: Clock) {
    this.options = options;
    this.#clock = clock;
    this.#readAt = clock.monotonic();
    try {
      this.#material = read(options);
    } catch (cause) {
      throw new EngineError('RT0002', `tls: ${String(cause)}`, { cause });
    }
  }

  /** The same object until the files are due and differ. */
  current(): TlsMaterial {
    const now = this.#clock.monotonic();
    if (now - this.#readAt < this.options.refreshIntervalMs) return this.#material;
    this.#readAt = now;
    try {
      const fresh = read(this.options);
      if (!isSame(fresh, this.#material)) this.#material = fresh;
    } catch (error) {
      onTlsFilesUnreadable(error);
    }
    return this.#material;
  }
}

function read({ certFile, keyFile, caFiles }: TlsOptions): TlsMaterial {
  const cas = caFiles.map((file) => readFileSync(file, 'utf8'));
  return {
    cert: readFileSync(certFile),
    key: readFileSync(keyFile),
    ca: cas.length === 0 ? undefined : Buffer.from(cas.join('\n')),
  };
}

function isSame(a: TlsMaterial, b: TlsMaterial): boolean {
  const isSameCa = a.ca === undefined || b.ca === undefined ? a.ca === b.ca : a.ca.equals(b.ca);
  return a.cert.equals(b.cert) && a.key.equals(b.key) && isSameCa;
}
