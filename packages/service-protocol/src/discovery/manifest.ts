/**
 * The shape of the manifest that an endpoint answers discovery with, versions 1 to 4. One strict shape serves all versions: a later
 * version only adds members. Unknown members are refused everywhere; `null` stands for "absent" but in `metadata`.
 */
import { z } from 'zod';

/** Content types of the manifest versions, in the order in which they are offered. */
export const MANIFEST_CONTENT_TYPES: readonly string[] = [1, 2, 3, 4].map(
  (version) => `application/vnd.restate.endpointmanifest.v${version.toString()}+json`,
);

/** The `accept` header of a discovery request. */
export const DISCOVERY_ACCEPT = MANIFEST_CONTENT_TYPES.join(', ');

const SERVICE_NAME = /^([a-zA-Z]|_[a-zA-Z0-9])[a-zA-Z0-9._-]*$/;
const HANDLER_NAME = /^([a-zA-Z]|_[a-zA-Z0-9])[a-zA-Z0-9_]*$/;

const optionalText = z.string().nullish();
const milliseconds = z.int().min(0).nullish();

const documentation = {
  documentation: optionalText,
  metadata: z.record(z.string(), z.string()).optional(),
};

/** Members that a service and a handler share. */
const options = {
  inactivityTimeout: milliseconds,
  abortTimeout: milliseconds,
  journalRetention: milliseconds,
  idempotencyRetention: milliseconds,
  enableLazyState: z.boolean().nullish(),
  ingressPrivate: z.boolean().nullish(),
  retryPolicyInitialInterval: milliseconds,
  retryPolicyMaxInterval: milliseconds,
  retryPolicyMaxAttempts: z.int().min(0).nullish(),
  retryPolicyExponentiationFactor: z.number().nullish(),
  retryPolicyOnMaxAttempts: z.enum(['PAUSE', 'KILL']).nullish(),
};

const input = z.strictObject({
  required: z.boolean().nullish(),
  contentType: optionalText,
  jsonSchema: z.unknown().optional(),
});

const output = z.strictObject({
  contentType: optionalText,
  setContentTypeIfEmpty: z.boolean().nullish(),
  jsonSchema: z.unknown().optional(),
});

const handler = z.strictObject({
  name: z.string().regex(HANDLER_NAME),
  ty: z.enum(['EXCLUSIVE', 'SHARED', 'WORKFLOW']).nullish(),
  input: input.nullish(),
  output: output.nullish(),
  ...documentation,
  ...options,
  workflowCompletionRetention: milliseconds,
});

const service = z.strictObject({
  name: z.string().regex(SERVICE_NAME),
  ty: z.enum(['SERVICE', 'VIRTUAL_OBJECT', 'WORKFLOW']),
  handlers: z.array(handler),
  ...documentation,
  ...options,
});

const manifest = z.strictObject({
  protocolMode: z.enum(['BIDI_STREAM', 'REQUEST_RESPONSE']).nullish(),
  minProtocolVersion: z.int().min(1),
  maxProtocolVersion: z.int().min(1),
  lambdaCompression: z.literal('zstd').nullish(),
  services: z.array(service),
});

export type Manifest = z.infer<typeof manifest>;
export type ManifestService = z.infer<typeof service>;
export type ManifestHandler = z.infer<typeof handler>;

export type ParsedManifest =
  | { readonly kind: 'ok'; readonly manifest: Manifest }
  | { readonly kind: 'bad'; readonly reason: string };

/** Checks the shape of a decoded manifest. The reason names the first place that is wrong. */
export function parseManifest(json: unknown): ParsedManifest {
  const parsed = manifest.safeParse(json);
  if (parsed.success) return { kind: 'ok', manifest: parsed.data };
  const issue = parsed.error.issues[0];
  const place = issue === undefined ? '' : z.core.toDotPath(issue.path);
  const what = issue?.message ?? 'not a manifest';
  return { kind: 'bad', reason: place === '' ? what : `${place}: ${what}` };
}
