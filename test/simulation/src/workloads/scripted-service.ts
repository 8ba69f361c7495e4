/** Scripted services: how they are written down, and small tools for their handlers. */

import type { HandlerType, ServiceType } from '@engine/domain';

import type { Handler, Json } from '../deployment/handler-context.js';

export interface ScriptedHandler {
  readonly type: HandlerType | undefined;
  readonly run: Handler;
}

export interface ScriptedService {
  readonly name: string;
  readonly type: ServiceType;
  readonly isLazy?: boolean;
  /** Results of idempotent calls are kept for a moment only, so their ids are used again. */
  readonly isBrief?: boolean;
  readonly handlers: Readonly<Record<string, ScriptedHandler>>;
}

export type Fields = Readonly<Record<string, Json>>;

const plain = (run: Handler): ScriptedHandler => ({ type: undefined, run });
export const exclusive = (run: Handler): ScriptedHandler => ({ type: 'exclusive', run });
export const shared = (run: Handler): ScriptedHandler => ({ type: 'shared', run });

export function fields(input: Json): Fields {
  return input as Fields;
}

export function text(input: Json, name: string): string {
  return String(fields(input)[name]);
}

export function number(input: Json, name: string): number {
  return Number(fields(input)[name]);
}

/** Large enough to be stored in several chunks. */
export const BIG_TEXT_LENGTH = 150_000;

/** A plain service. */
export function service(
  name: string,
  handlers: Readonly<Record<string, Handler>>,
): ScriptedService {
  const entries = Object.entries(handlers).map(([handler, run]) => [handler, plain(run)] as const);
  return { name, type: 'service', handlers: Object.fromEntries(entries) };
}
