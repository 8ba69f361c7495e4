/** Bodies of requests about deployments. */

import { z } from 'zod';

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Names in lower case. */
const headers = z
  .record(
    z.string().regex(HEADER_NAME, 'not a header name'),
    z.string().regex(HEADER_VALUE, 'not a header value'),
  )
  .transform((given) =>
    Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value])),
  );

export const registrationBody = z.object({
  uri: z.string().nullish(),
  arn: z.string().nullish(),
  use_http_11: z.boolean().default(false),
  force: z.boolean().nullish(),
  breaking: z.boolean().default(false),
  dry_run: z.boolean().default(false),
  additional_headers: headers.nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
});

export const updateBody = z.object({
  uri: z.string().nullish(),
  arn: z.string().nullish(),
  use_http_11: z.boolean().nullish(),
  additional_headers: headers.nullish(),
  overwrite: z.boolean().default(false),
  dry_run: z.boolean().default(false),
});

/** `arn:partition:lambda:region:account:function:name:version`. */
export function isQualifiedArn(text: string): boolean {
  const parts = text.split(':');
  return parts.length === 8 && parts[0] === 'arn' && parts[2] === 'lambda' && parts[7] !== '';
}
