/** What a person saw of a code, and where. */

import { expect } from '@jest/globals';
import type { ErrorCode } from '@engine/domain';

import type { InvocationRow } from '../ask.js';

/** Where a person meets a code: the words of the page, under "Where it shows", and those of the index. */
export const PLACES = {
  admin: { page: 'Admin', index: 'admin body' },
  metadata: { page: 'Metadata', index: 'metadata' },
  start: { page: 'Process start', index: 'process start' },
  'last-failure': {
    page: 'Last failure of the invocation',
    index: 'last failure of an invocation',
  },
  ingress: { page: 'Ingress', index: 'ingress' },
  log: { page: 'Log', index: 'log' },
} as const;

export type Place = keyof typeof PLACES;

export type Sighting =
  /** The answer of the admin interface. */
  | { readonly place: 'admin'; readonly status: number; readonly body: ErrorBody }
  /** `info` in the description of a service, handler or deployment. */
  | { readonly place: 'metadata'; readonly info: readonly Info[] | undefined }
  /** A process that refused to start: what it said, and its exit status. */
  | { readonly place: 'start'; readonly status: number | null; readonly output: string }
  | { readonly place: 'last-failure'; readonly row: InvocationRow }
  /** The answer to a caller. */
  | { readonly place: 'ingress'; readonly status: number; readonly body: ErrorBody }
  /** Lines of the process about one invocation. */
  | { readonly place: 'log'; readonly id: string; readonly lines: readonly string[] };

export interface ErrorBody {
  readonly message?: unknown;
  readonly engine_code?: unknown;
  readonly restate_code?: unknown;
}

export interface Info {
  readonly code: string;
  readonly message: string;
}

/** The code has to stand where people look for it, at the head of what they read. */
export function expectCode(code: ErrorCode, sighting: Sighting): void {
  const inBrackets = `[${code}] `;
  switch (sighting.place) {
    case 'admin':
      expect(sighting.body).toMatchObject({ engine_code: code, restate_code: code });
      expect(String(sighting.body.message).startsWith(inBrackets)).toBe(true);
      expect(sighting.status).toBe(ADMIN_STATUSES[code] ?? 500);
      return;
    case 'metadata':
      expect(sighting.info?.map((each) => each.code)).toContain(code);
      return;
    case 'start':
      expect(sighting.output).toMatch(new RegExp(`^${code} \\S`, 'm'));
      expect(sighting.output).toContain(`docs/errors/${code}.md`);
      expect(sighting.status).toBe(1);
      return;
    case 'last-failure':
      expect(sighting.row.last_failure_error_code).toBe(code);
      expect(sighting.row.last_failure).toMatch(/^\[\d{3}[^\]]*\] \S/);
      return;
    case 'ingress':
      expect(sighting.status).toBe(400);
      expect(sighting.body.message).toMatch(INGRESS_MESSAGES[code] ?? /never/);
      return;
    case 'log':
      expect(sighting.lines.filter((line) => line.includes(inBrackets))).not.toEqual([]);
  }
}

/** Clients know the text about scopes as it is, without a code. */
const INGRESS_MESSAGES: Partial<Record<ErrorCode, RegExp>> = {
  RT0020: /^\[RT0020\] \S/,
  RT0024: /^scoped invocations require vqueues to be enabled$/,
};

/** Statuses of the admin interface that blame the request; all others are 500. */
const ADMIN_STATUSES: Partial<Record<ErrorCode, number>> = {
  META0004: 409,
  META0005: 400,
  META0006: 409,
  META0016: 400,
  META0017: 409,
};
