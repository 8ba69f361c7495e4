// From what people wrote to one frozen value. Nothing else in the program reads a file, a variable or a flag.
import { join, resolve } from 'node:path';
import { EngineError } from '@engine/domain';
import { stringify } from 'smol-toml';
import { z } from 'zod';
import { shape } from './shape.js';
import type { Setting } from './source.js';

type Camel<S extends string> = S extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : S;
type CamelKeys<T> = T extends readonly unknown[]
  ? Readonly<T>
  : T extends object
    ? { readonly [K in keyof T as K extends string ? Camel<K> : never]: CamelKeys<T[K]> }
    : T;

/** Everything that can be set, in force, in ms and bytes. Paths are as written; see `directoriesOf`. */
export type ServerConfig = CamelKeys<z.output<typeof shape>>;

/** What was read: the value in force and the same as written, for --dump-config. */
export interface LoadedConfig {
  readonly config: ServerConfig;
  readonly toml: string;
}

export function isTopLevelKey(key: string): boolean {
  return key in shape.shape;
}

/** Later settings win. Throws RT0002 naming every unknown key and every bad value with its place. */
export function readConfig(settings: readonly Setting[]): LoadedConfig {
  const raw: Record<string, unknown> = {};
  const places = new Map<string, string>();
  for (const { path, value, place } of settings) {
    put(raw, path, value);
    places.set(path.join('.'), place);
  }
  const outcome = shape.safeParse(raw, { reportInput: true });
  if (!outcome.success) {
    const problems = outcome.error.issues.flatMap((issue) => problemsOf(issue, places));
    throw new EngineError('RT0002', problems.join('\n'), { cause: outcome.error });
  }
  return { config: camelKeys(outcome.data) as ServerConfig, toml: dump(outcome.data) };
}

/** Absolute directories of this node. The two storage keys win over the base directory. */
export function directoriesOf(config: ServerConfig): {
  readonly node: string;
  readonly meta: string;
  readonly storage: string;
} {
  const node = resolve(config.baseDir, config.nodeName);
  return {
    node,
    meta: resolve(config.meta.storagePath ?? join(node, 'meta')),
    storage: resolve(config.worker.storageRocksdb.path ?? join(node, 'storage')),
  };
}

export interface ListenAddress {
  /** Undefined: every address of the machine, IPv6 and IPv4. */
  readonly host: string | undefined;
  /** 0: any free port. */
  readonly port: number;
}

/** Where a role listens: its bind-address, else its bind-ip and port, else the common bind-ip. */
export function listenAddressOf(config: ServerConfig, role: 'ingress' | 'admin'): ListenAddress {
  const { bindAddress, bindIp, bindPort } = config[role];
  return parseAddress(bindAddress ?? `${bindIp ?? config.bindIp}:${bindPort}`);
}

/** Where other nodes of a cluster reach this one. */
export function nodeAddressOf({ bindIp, bindPort }: ServerConfig): ListenAddress {
  return parseAddress(`${bindIp}:${bindPort}`);
}

function parseAddress(address: string): ListenAddress {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replaceAll(/[[\]]/g, '');
  return { host: host === '::' ? undefined : host, port: Number(address.slice(colon + 1)) };
}

function put(raw: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [head = '', ...rest] = path;
  if (rest.length === 0) {
    raw[head] = value;
    return;
  }
  const inner = raw[head];
  const table: Record<string, unknown> = isTable(inner) ? inner : {};
  put(table, rest, value);
  raw[head] = table;
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function problemsOf(issue: z.core.$ZodIssue, places: ReadonlyMap<string, string>): string[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const whole = [...path, key].join('.');
      return `${placeOf(whole, places)}: there is no key ${whole}`;
    });
  }
  const whole = path.join('.');
  return [`${placeOf(whole, places)}: ${whole}: ${issue.message}`];
}

/** The place of the key, of the nearest table around it, or of the first setting below it. */
function placeOf(path: string, places: ReadonlyMap<string, string>): string {
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
    const place = places.get(path.slice(0, end));
    if (place !== undefined) return place;
  }
  for (const [key, place] of places) if (key.startsWith(`${path}.`)) return place;
  return 'configuration';
}

function dump(data: z.output<typeof shape>): string {
  const { roles, ...rest } = data;
  // The list of roles is read one way only (from a list or from text), so it is written as it is.
  const encoded = z.encode(shape.omit({ roles: true }), rest);
  return stringify({ roles, ...withoutUndefined(encoded) });
}

function withoutUndefined(table: object): Record<string, unknown> {
  const kept = Object.entries(table).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    kept.map(([key, value]: [string, unknown]) => [
      key,
      isTable(value) ? withoutUndefined(value) : value,
    ]),
  );
}

function camelKeys(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze([...(value as unknown[])]);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]: [string, unknown]) => [
    key.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    camelKeys(inner),
  ]);
  return Object.freeze(Object.fromEntries(entries));
}
