/**
 * Whether a handler takes a body of this kind. The rules come from its discovery entry; when several apply, the fault of the
 * last one is reported. The body itself is opaque: schemas are not evaluated here.
 */

import type { InputPayload } from '@engine/domain';

export interface RequestInput {
  /** Value of the header as sent. */
  readonly contentType: string | undefined;
  readonly isEmpty: boolean;
}

/** Undefined when the input is fine, else the text after `input validation error: `. */
export function inputFault(
  rules: InputPayload | undefined,
  input: RequestInput,
): string | undefined {
  if (rules === undefined) {
    return input.isEmpty || input.contentType !== undefined ? undefined : 'Empty content-type';
  }
  if (rules.contentType === undefined) {
    return rules.required ? 'Bad configuration of the input validation rules' : emptyFault(input);
  }
  if (!rules.required && input.isEmpty && input.contentType === undefined) return undefined;
  return typedFault(rules, rules.contentType, input);
}

function emptyFault({ isEmpty, contentType }: RequestInput): string | undefined {
  if (isEmpty && contentType === undefined) return undefined;
  const shown = contentType === undefined ? 'None' : `Some("${contentType}")`;
  return `Expected body and content-type to be empty, but wasn't with content-type '${shown}'`;
}

function typedFault(
  rules: InputPayload,
  expected: string,
  input: RequestInput,
): string | undefined {
  if (input.contentType === undefined) return 'Empty content-type';
  if (!matches(input.contentType, expected)) {
    return `Content-type '${input.contentType}' does not match '${expected}'`;
  }
  const hasSchema = rules.jsonSchema !== undefined;
  return hasSchema && input.isEmpty ? 'Empty body not allowed' : undefined;
}

/** `expected` is a full type, a type with any subtype, or the wildcard for all. Case matters, parameters do not. */
function matches(contentType: string, expected: string): boolean {
  if (contentType === expected || expected === '*/*') return true;
  const end = contentType.indexOf(';');
  const essence = (end < 0 ? contentType : contentType.slice(0, end)).trim();
  return expected.endsWith('/*') ? essence.startsWith(expected.slice(0, -1)) : essence === expected;
}
