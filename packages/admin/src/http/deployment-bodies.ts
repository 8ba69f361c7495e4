/** Bodies of requests about deployments. */

import { z } from 'zod';

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** What may stand in a URI (RFC 3986), and beyond ASCII, which is percent-encoded. */
const URI_CHARACTERS = /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%\u0080-\uffff]+$/;

/** Names in lower case. */
const headers = z
  .record(
    z.string().regex(HEADER_NAME, 'not a header name'),
    z.string().regex(HEADER_VALUE, 'not a header value'),
  )
  .transform((given) =>
    Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value])),
  );

const uri = z
  .string()
  .regex(URI_CHARACTERS, 'not a URI')
  .nullish()
  .describe('Address of an HTTP endpoint, with scheme and host.');
const arn = z
  .string()
  .nullish()
  .describe('Name of a function, with its version or alias. `uri` wins when both are given.');
const assumeRoleArn = z
  .string()
  .nullish()
  .describe('Role that the server takes on to invoke the function.');
const dryRun = z
  .boolean()
  .default(false)
  .describe('Ask the endpoint and check everything, but change nothing.');

export const registrationBody = z.object({
  uri,
  arn,
  assume_role_arn: assumeRoleArn,
  use_http_11: z
    .boolean()
    .default(false)
    .describe('Speak HTTP/1.1 to the endpoint. Else HTTP/2, or with https what it prefers.'),
  additional_headers: headers
    .nullish()
    .describe('Sent with the discovery and with every invocation.'),
  metadata: z
    .record(z.string(), z.string())
    .nullish()
    .describe('Free texts kept with the deployment.'),
  breaking: z.boolean().default(false).describe('Services may change their type.'),
  force: z
    .boolean()
    .nullish()
    .describe(
      'Replace the deployment with this destination. Includes `breaking`. ' +
        'Invocations that run there may become unrecoverable.',
    ),
  dry_run: dryRun,
  auth: z
    .looseObject({})
    .nullish()
    .describe('Not supported; only null is accepted. Use `additional_headers`.'),
});

export const updateBody = z.object({
  uri,
  arn,
  assume_role_arn: assumeRoleArn,
  use_http_11: z.boolean().nullish().describe('Speak HTTP/1.1 to the endpoint.'),
  additional_headers: headers
    .nullish()
    .describe('Replaces all headers that were set; the empty object removes them.'),
  overwrite: z
    .boolean()
    .default(false)
    .describe('Also take over the services as the endpoint announces them now.'),
  dry_run: dryRun,
});

export type RegistrationBody = z.output<typeof registrationBody>;
export type UpdateBody = z.output<typeof updateBody>;
