/** Texts in answers that a dialect may word in its own way. */

import {
  formatDuration,
  type HandlerDefaults,
  type InputPayload,
  type OutputPayload,
} from '@engine/domain';
import type { Dialect } from '../dialect.js';

type Wording = Dialect['wording'];

/** What every view of services and handlers needs to know. */
export interface ViewOptions {
  readonly defaults: HandlerDefaults;
  readonly wording: Wording;
}

/** `1day`, `2h`, `1m 30s` as the interface shows them; `1d` in the short wording. */
export function durationText(ms: number, wording: Wording): string {
  const text = formatDuration(ms);
  if (wording === 'short') return text;
  return text.replace(
    /^(\d+)d/,
    (_match, days: string) => `${days}${days === '1' ? 'day' : 'days'}`,
  );
}

/** RFC 3339 with nine fraction digits, or none when the fraction is zero. */
export function timestampText(ms: number): string {
  const text = new Date(ms).toISOString();
  return text.endsWith('.000Z') ? text.replace('.000Z', 'Z') : text.replace('Z', '000000Z');
}

/** What input a handler takes. The empty text: the deployment did not say (interface §2.3). */
export function inputText(input: InputPayload | undefined, wording: Wording): string {
  if (wording === 'short') return shortInput(input);
  if (input === undefined) return '';
  const rules = [
    ...(input.required ? [] : ['none']),
    ...(input.contentType === undefined ? [] : [contentTypeRule(input.contentType)]),
  ];
  return rules.length > 1 ? `one of [${rules.join(', ')}]` : (rules[0] ?? 'nothing');
}

/** What output a handler gives. The empty text: the deployment did not say (interface §2.3). */
export function outputText(output: OutputPayload | undefined, wording: Wording): string {
  if (wording === 'short') return shortOutput(output);
  if (output === undefined) return '';
  if (output.contentType === undefined) return 'none';
  const rule = contentTypeRule(output.contentType);
  return output.setContentTypeIfEmpty ? `optional ${rule}` : rule;
}

function contentTypeRule(contentType: string): string {
  return `value of content-type ${contentType}`;
}

function shortInput(input: InputPayload | undefined): string {
  if (input === undefined) return '*/*';
  if (input.contentType === undefined) return input.required ? '<invalid rules>' : 'none';
  return schemaText(input.jsonSchema) ?? input.contentType;
}

function shortOutput(output: OutputPayload | undefined): string {
  if (output === undefined) return 'application/json';
  if (output.contentType === undefined) return 'none';
  const text = schemaText(output.jsonSchema) ?? output.contentType;
  return output.setContentTypeIfEmpty ? `optional ${text}` : text;
}

function schemaText(schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  const { title, type } = schema as { readonly title?: unknown; readonly type?: unknown };
  if (typeof title === 'string') return `JSON '${title}'`;
  return typeof type === 'string' ? `JSON ${type}` : undefined;
}
