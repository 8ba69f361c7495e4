/** The JSON that names an invocation in the body of attach, output and lookup. */

import { decodeUtf8Strict } from '@engine/stdx';
import { parseInvocationId } from '@engine/domain';
import type { InvocationQuery } from '../invocation-query.js';
import { refuse, type Refusal } from '../refusal.js';
import { scopeFault } from '../scope-grammar.js';

class BadBody extends Error {}

/** A body that is no such JSON is refused with 500, as the interface has it; a bad id or scope in it with 400. */
export function parseQueryBody(
  body: Uint8Array,
  what: 'request' | 'lookup',
): InvocationQuery | Refusal {
  try {
    return queryOf(fieldsOf(body));
  } catch (error) {
    if (!(error instanceof BadBody)) throw error;
    return refuse(500, `cannot read body: invalid ${what} body: ${error.message}`);
  }
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(body: Uint8Array): Fields {
  let value: unknown;
  try {
    value = JSON.parse(decodeUtf8Strict(body));
  } catch (error) {
    throw new BadBody(error instanceof Error ? error.message : 'not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new BadBody('expected an object');
  }
  return value as Fields;
}

function queryOf(fields: Fields): InvocationQuery | Refusal {
  switch (fields['target']) {
    case 'invocation':
      return queryById(text(fields, 'invocationId'));
    case 'workflow': {
      const [service, key] = [text(fields, 'workflowName'), text(fields, 'workflowKey')];
      return checked({ kind: 'workflow', service, key, scope: optionalText(fields, 'scope') });
    }
    case 'idempotentInvocation':
      return checked({
        kind: 'idempotent',
        service: text(fields, 'service'),
        key: optionalText(fields, 'key'),
        handler: text(fields, 'handler'),
        idempotencyKey: text(fields, 'idempotencyKey'),
        scope: optionalText(fields, 'scope'),
      });
    default:
      throw new BadBody('field target is none of invocation, workflow, idempotentInvocation');
  }
}

function queryById(id: string): InvocationQuery | Refusal {
  const parsed = parseInvocationId(id);
  if (parsed.kind === 'ok') return { kind: 'invocation', id: parsed.id };
  return refuse(400, `bad invocation id '${id}': ${parsed.reason}`);
}

function checked(
  query: Exclude<InvocationQuery, { kind: 'invocation' }>,
): InvocationQuery | Refusal {
  const fault = query.scope === undefined ? undefined : scopeFault(query.scope);
  return fault === undefined ? query : refuse(400, `bad scope value: ${fault}`);
}

function text(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string') throw new BadBody(`field ${name} is not a string`);
  return value;
}

function optionalText(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return value === undefined || value === null ? undefined : text(fields, name);
}
