// The kinds of value a configuration has. Each reads what people write and, for --dump-config, writes it back.
// Environment and flags are text, so numbers and lists are read from text too.
import { formatDuration, parseDuration, ROLES } from '@engine/domain';
import { LOG_LEVELS, parseLogFilter } from '@engine/telemetry';
import { z } from 'zod';
import { loadSigningKey } from './signing-key-file.js';

const UNITS: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
};

type Read<T> = { readonly value: T } | { readonly problem: string };

/** A field whose text is read by `read`; what it can't read is an issue that says why. */
function field<T>(read: (text: string) => Read<T>, write: (value: T) => string | number) {
  const input = z.union([z.string(), z.number()]);
  return z.codec(
    input,
    z.custom<T>(() => true),
    {
      decode: (raw, context) => {
        const outcome = read(String(raw).trim());
        if ('value' in outcome) return outcome.value;
        context.issues.push({ code: 'custom', message: outcome.problem, input: raw });
        return z.NEVER;
      },
      encode: (value) => write(value),
    },
  );
}

/** Milliseconds. `10s`, `1m 30s`, `PT1M30S`; a bare number is refused, but for 0 where it is allowed. */
export function duration(limits: { readonly zero: boolean; readonly minMs?: number }) {
  return field<number>((text) => {
    const parsed = parseDuration(text);
    if (parsed.kind === 'bad') {
      return { problem: `"${text}" is not a duration such as "10s", "1m 30s" or "PT1M30S"` };
    }
    if (parsed.ms === 0 && !limits.zero) return { problem: 'has to be longer than zero' };
    if (parsed.ms < (limits.minMs ?? 0)) {
      return { problem: `has to be at least ${formatDuration(limits.minMs ?? 0)}` };
    }
    return { value: parsed.ms };
  }, formatDuration);
}

/** Bytes. A number, or text with a unit: `512MB` (decimal), `32 MiB` (binary). */
export function byteCount() {
  return field<number>((text) => {
    const [, digits = '', unit = 'b'] = /^(\d+(?:\.\d+)?)\s*([a-z]+)?$/i.exec(text) ?? [];
    const scale = UNITS[unit.toLowerCase()];
    if (digits === '' || scale === undefined) {
      return { problem: `"${text}" is not a size such as 1048576, "512MB" or "32 MiB"` };
    }
    return { value: Math.round(Number(digits) * scale) };
  }, formatBytes);
}

export function integer({ min, max }: { readonly min: number; readonly max: number }) {
  return field<number>(
    (text) => {
      const value = Number(text);
      if (/^-?\d+$/.test(text) && value >= min && value <= max) return { value };
      return { problem: `"${text}" is not a whole number from ${min} to ${max}` };
    },
    (value) => value,
  );
}

export function factor() {
  return field<number>(
    (text) => {
      const value = Number(text);
      if (text !== '' && Number.isFinite(value) && value >= 1) return { value };
      return { problem: `"${text}" is not a number of at least 1` };
    },
    (value) => value,
  );
}

/** A count of at least 1, or `unlimited`. */
export function countOrUnlimited() {
  return field<number | undefined>(
    (text) => {
      if (text === 'unlimited' || text === 'infinite') return { value: undefined };
      if (/^[1-9]\d*$/.test(text)) return { value: Number(text) };
      return { problem: `"${text}" is neither a whole number of at least 1 nor "unlimited"` };
    },
    (value) => value ?? 'unlimited',
  );
}

/** `127.0.0.1:8080` or `[::]:8080`. */
export function bindAddress() {
  return field<string>(
    (text) =>
      /^(\[[0-9a-f:.]+\]|[^:[\]/]+):\d{1,5}$/i.test(text)
        ? { value: text }
        : { problem: `"${text}" is not an address such as "127.0.0.1:8080" or "[::]:8080"` },
    (value) => value,
  );
}

/** A name that becomes part of a path, a subject or a metric. */
export function name() {
  return z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, {
    message: 'takes up to 63 letters, digits and . _ -, the first a letter or a digit',
  });
}

function listOf(text: string): string[] {
  return text
    .replaceAll(/^\[|\]$|["']/g, '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

/** A list, or text such as `a,b` or `[a, b]`. */
export function texts() {
  return z.union([z.array(z.string()), z.string().transform(listOf)]).pipe(z.array(z.string()));
}

/** Addresses of NATS servers: `nats://host:4222`, `tls://host:4222` or `host:4222`. */
export function serverUrls() {
  const one = z
    .string()
    .regex(
      /^(?:(?:nats|tls):\/\/)?[^\s/:]+(?::\d{1,5})?$|^(?:nats|tls):\/\/\[[0-9a-f:]+\]:\d{1,5}$/i,
      {
        message: 'is not an address such as "nats://127.0.0.1:4222"',
      },
    );
  return texts().pipe(z.array(one));
}

/** True or false; also as text. */
export function flag() {
  return z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')]);
}

/** Copies of what a cluster keeps: 1 or 3. */
export function replicaCount() {
  return field<1 | 3>(
    (text) =>
      text === '1' || text === '3'
        ? { value: text === '1' ? 1 : 3 }
        : { problem: `"${text}" is neither 1 nor 3` },
    (value) => value,
  );
}

/** A list of header names, or text such as `x-tenant,x-stage` or `[x-tenant, x-stage]`. They become lower case. */
export function headerNames() {
  const one = z
    .string()
    .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, { message: 'is not the name of a header' })
    .toLowerCase();
  return texts().pipe(z.array(one));
}

/** A list, or text such as `ingress,worker` or `[ingress, worker]`. `http-ingress` is another name of `ingress`. */
export function roles() {
  return texts()
    .transform((names) => names.map((each) => each.replace(/^http-ingress$/, 'ingress')))
    .pipe(z.array(z.enum(ROLES)).nonempty());
}

/** See parseLogFilter of the telemetry room. */
export function logFilter() {
  return z.string().superRefine((text, context) => {
    try {
      parseLogFilter(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : '' });
    }
  });
}

export function logLevel() {
  return z.enum(LOG_LEVELS);
}

function formatBytes(bytes: number): string | number {
  for (const [unit, scale] of [
    ['GiB', 2 ** 30],
    ['MiB', 2 ** 20],
    ['KiB', 2 ** 10],
  ] as const) {
    if (bytes >= scale && bytes % scale === 0) return `${bytes / scale} ${unit}`;
  }
  return bytes;
}

/** A file with the key that signs requests. It is looked at now, so that a bad one is reported where its name stands. */
export function signingKeyFile() {
  return field<string>(
    (path) => {
      try {
        loadSigningKey(path);
        return { value: path };
      } catch (error) {
        return { problem: error instanceof Error ? error.message : String(error) };
      }
    },
    (path) => path,
  );
}
