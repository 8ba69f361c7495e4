/** What is fuzzed: one file per target in `targets/`. */

import type { Chance } from './chance.js';

/** One input. Its bytes are what people see of it when it fails. */
export interface FuzzCase {
  readonly bytes: Uint8Array;
  /** Throws what is a finding: an assertion of the target, or any error that the code is not documented to throw. */
  run(): void | Promise<void>;
}

/** A target that was made ready. */
export interface OpenTarget extends AsyncDisposable {
  /** Input drawn from chance alone, so that the same seed and number give it again. */
  next(chance: Chance): FuzzCase;
}

export interface Target {
  readonly name: string;
  open(): OpenTarget | Promise<OpenTarget>;
}

/** For targets that hold nothing to close. */
export function openTarget(next: OpenTarget['next']): OpenTarget {
  return { next, [Symbol.asyncDispose]: () => Promise.resolve() };
}

/** Runs `action` and gives its value; an error with one of `codes` gives undefined; every other error is a finding. */
export function codedOnly<T>(codes: readonly string[], action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (codes.includes(codeOf(error))) return undefined;
    throw error;
  }
}

/** The code of an EngineError; errors of other kinds have none here, also if the platform gave them a `code`. */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
  return name === 'EngineError' && typeof code === 'string' ? code : '';
}
