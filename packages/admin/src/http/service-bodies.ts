/** Bodies of requests about services and their state. */

import { parseDuration } from '@engine/domain';
import { encodeUtf8 } from '@engine/stdx';
import { z } from 'zod';

/** Milliseconds, out of a text such as `1h 30m` or `PT90M`. */
const duration = z
  .string()
  .transform((text, context) => {
    const parsed = parseDuration(text);
    if (parsed.kind === 'ok') return parsed.ms;
    context.addIssue({ code: 'custom', message: `bad duration '${text}': ${parsed.reason}` });
    return z.NEVER;
  })
  .nullish();

export const modificationBody = z.object({
  public: z.boolean().nullish().describe('Whether the ingress may call the service.'),
  idempotency_retention: duration.describe('How long results of idempotent requests are kept.'),
  workflow_completion_retention: duration.describe(
    'How long the result of a workflow is kept. For workflows only.',
  ),
  journal_retention: duration.describe('How long journals are kept after the end.'),
  inactivity_timeout: duration.describe('After this time without progress: suspend.'),
  abort_timeout: duration.describe('After this time more without suspending: abort.'),
});

/** The bytes of a value, out of an array of bytes or a text. Checked by hand: values may have millions of bytes. */
const bytes = z
  .custom<string | readonly number[]>(isBytes, 'neither a text nor an array of 0 … 255')
  .transform((given) => (typeof given === 'string' ? encodeUtf8(given) : Uint8Array.from(given)))
  .meta({
    oneOf: [
      { type: 'array', items: { type: 'integer', minimum: 0, maximum: 255 } },
      { type: 'string', description: 'Stands for its UTF-8 bytes.' },
    ],
  });

export const stateBody = z.object({
  object_key: z.string().describe('Key of the object or workflow.'),
  new_state: z
    .record(z.string(), bytes)
    .describe('The whole new state; what it does not name is removed.'),
  version: z
    .string()
    .nullish()
    .describe('Version of the state that is meant; when it is another one, nothing changes.'),
  scope: z.string().nullish().describe('Only for servers with flow control.'),
});

export type ModificationBody = z.output<typeof modificationBody>;

function isBytes(value: unknown): boolean {
  if (typeof value === 'string') return true;
  return Array.isArray(value) && value.every(isByte);
}

function isByte(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 255;
}
