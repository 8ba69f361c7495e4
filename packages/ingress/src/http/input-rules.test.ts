import { describe, expect, it } from '@jest/globals';
import type { InputPayload } from '@engine/domain';
import { inputFault } from './input-rules.js';

const JSON_TYPE = 'application/json';
const rule = (required: boolean, contentType?: string, jsonSchema?: unknown): InputPayload => ({
  required,
  contentType,
  jsonSchema,
});
const RULES: Readonly<Record<string, InputPayload | undefined>> = {
  absent: undefined,
  none: rule(false),
  optional: rule(false, JSON_TYPE),
  schema: rule(false, JSON_TYPE, { type: 'string' }),
  required: rule(true, JSON_TYPE),
  requiredSchema: rule(true, JSON_TYPE, true),
  broken: rule(true),
  text: rule(true, 'text/*'),
  any: rule(true, '*/*'),
};
const mismatch = (sent: string): string => `Content-type '${sent}' does not match '${JSON_TYPE}'`;
const expectedEmpty = (sent: string): string =>
  `Expected body and content-type to be empty, but wasn't with content-type '${sent}'`;

describe('inputFault', () => {
  it.each([
    ['absent', undefined, '', undefined],
    ['absent', 'x/y', 'b', undefined],
    ['absent', undefined, 'b', 'Empty content-type'],
    ['none', undefined, '', undefined],
    ['none', JSON_TYPE, '', expectedEmpty(`Some("${JSON_TYPE}")`)],
    ['none', undefined, '1', expectedEmpty('None')],
    ['optional', undefined, '', undefined],
    ['optional', JSON_TYPE, '', undefined],
    ['optional', ' application/json ; charset=utf-8', '1', undefined],
    ['optional', 'text/plain', '1', mismatch('text/plain')],
    ['optional', 'Application/JSON', '1', mismatch('Application/JSON')],
    ['optional', '', '1', mismatch('')],
    ['optional', undefined, '1', 'Empty content-type'],
    ['schema', undefined, '', undefined],
    ['schema', JSON_TYPE, '', 'Empty body not allowed'],
    ['schema', JSON_TYPE, '42', undefined],
    ['required', undefined, '', 'Empty content-type'],
    ['required', JSON_TYPE, '', undefined],
    ['requiredSchema', JSON_TYPE, '', 'Empty body not allowed'],
    ['broken', JSON_TYPE, '1', 'Bad configuration of the input validation rules'],
    ['text', 'text/html', 'x', undefined],
    ['text', JSON_TYPE, '1', "Content-type 'application/json' does not match 'text/*'"],
    ['any', 'image/png', 'x', undefined],
    ['any', undefined, 'x', 'Empty content-type'],
  ])('%s with content-type %s and body "%s"', (name, contentType, body, fault) => {
    expect(inputFault(RULES[name], { contentType, isEmpty: body === '' })).toBe(fault);
  });
});
