/** Services and handlers of a manifest → the domain's schema, with the rules that a manifest must obey. */
import type {
  HandlerOptions,
  HandlerSchema,
  HandlerType,
  InputPayload,
  OutputPayload,
  PartialRetryPolicy,
  ServiceSchema,
  ServiceType,
} from '@engine/domain';
import { isContentTypeRule, isHeaderValue } from './content-type.js';
import { checkSchemaDocument } from './json-schema.js';
import type { ManifestHandler, ManifestService } from './manifest.js';
import { RuleBroken } from './refusal.js';

/** A service before registration gives it a revision. */
export type DiscoveredService = Omit<ServiceSchema, 'revision'>;

/** Names that begin like this, in any case, would collide with the ingress's own paths. */
const RESERVED_PREFIXES = ['engine', 'restate'];
const RESERVED_NAMES = ['openapi'];

const SERVICE_TYPES: Readonly<Record<ManifestService['ty'], ServiceType>> = {
  SERVICE: 'service',
  VIRTUAL_OBJECT: 'virtual-object',
  WORKFLOW: 'workflow',
};

/** Handler type by service type and by what the manifest says; a missing entry is not allowed. */
const HANDLER_TYPES: Readonly<
  Record<ServiceType, Readonly<Partial<Record<string, HandlerType | 'plain'>>>>
> = {
  service: { '': 'plain', SHARED: 'plain' },
  'virtual-object': { '': 'exclusive', EXCLUSIVE: 'exclusive', SHARED: 'shared' },
  workflow: { '': 'shared', SHARED: 'shared', WORKFLOW: 'workflow' },
};

/** Converts all services. Of several with one name the last one counts. Throws RuleBroken. */
export function readServices(services: readonly ManifestService[]): DiscoveredService[] {
  const byName = new Map(services.map((service) => [service.name, readService(service)]));
  return [...byName.values()];
}

function readService(service: ManifestService): DiscoveredService {
  checkName(service.name);
  const type = SERVICE_TYPES[service.ty];
  const handlers = new Map(
    service.handlers.map((handler) => [handler.name, readHandler(service, type, handler)]),
  );
  return {
    name: service.name,
    type,
    handlers: [...handlers.values()],
    ingressPrivate: service.ingressPrivate ?? false,
    documentation: service.documentation ?? undefined,
    metadata: service.metadata ?? {},
    options: readOptions(service),
  };
}

function checkName(name: string): void {
  const lower = name.toLowerCase();
  const isReserved =
    RESERVED_PREFIXES.some((prefix) => lower.startsWith(prefix)) || RESERVED_NAMES.includes(lower);
  if (isReserved) throw new RuleBroken(`the service name '${name}' is reserved`, 'META0005');
}

function readHandler(
  service: ManifestService,
  serviceType: ServiceType,
  handler: ManifestHandler,
): HandlerSchema {
  const place = `${service.name}/${handler.name}`;
  const type = HANDLER_TYPES[serviceType][handler.ty ?? ''];
  if (type === undefined) {
    throw new RuleBroken(
      `${place}: a handler of a ${service.ty} cannot have the type ${handler.ty ?? 'none'}`,
    );
  }
  if (type !== 'workflow' && isGiven(handler.workflowCompletionRetention)) {
    throw new RuleBroken(`${place}: workflowCompletionRetention is for WORKFLOW handlers only`);
  }
  if (type === 'workflow' && isGiven(handler.idempotencyRetention)) {
    throw new RuleBroken(`${place}: idempotencyRetention is not for WORKFLOW handlers`);
  }
  if (service.ingressPrivate === true && handler.ingressPrivate === false) {
    throw new RuleBroken(`${place}: a handler of a private service cannot be public`);
  }
  const workflowCompletionRetentionMs = handler.workflowCompletionRetention ?? undefined;
  return {
    name: handler.name,
    type: type === 'plain' ? undefined : type,
    input: readInput(handler.input, place),
    output: readOutput(handler.output, place),
    ingressPrivate: handler.ingressPrivate ?? undefined,
    documentation: handler.documentation ?? undefined,
    metadata: handler.metadata ?? {},
    options: { ...readOptions(handler), workflowCompletionRetentionMs },
  };
}

function readInput(input: ManifestHandler['input'], place: string): InputPayload | undefined {
  if (!isGiven(input)) return undefined;
  const contentType = input.contentType ?? undefined;
  if (contentType !== undefined && !isContentTypeRule(contentType)) {
    throw new RuleBroken(`${place}: bad input content type '${contentType}'`);
  }
  const jsonSchema = readSchema(input.jsonSchema, `${place} input`);
  return { required: input.required ?? false, contentType, jsonSchema };
}

function readOutput(output: ManifestHandler['output'], place: string): OutputPayload | undefined {
  if (!isGiven(output)) return undefined;
  const contentType = output.contentType ?? undefined;
  if (contentType !== undefined && !isHeaderValue(contentType)) {
    throw new RuleBroken(`${place}: bad output content type`);
  }
  const setContentTypeIfEmpty = output.setContentTypeIfEmpty ?? false;
  const jsonSchema = readSchema(output.jsonSchema, `${place} output`);
  return { contentType, setContentTypeIfEmpty, jsonSchema };
}

function readSchema(schema: unknown, place: string): unknown {
  if (!isGiven(schema)) return undefined;
  checkSchemaDocument(schema, place);
  return schema;
}

function readOptions(from: ManifestService | ManifestHandler): HandlerOptions {
  return {
    inactivityTimeoutMs: from.inactivityTimeout ?? undefined,
    abortTimeoutMs: from.abortTimeout ?? undefined,
    journalRetentionMs: from.journalRetention ?? undefined,
    idempotencyRetentionMs: from.idempotencyRetention ?? undefined,
    enableLazyState: from.enableLazyState ?? undefined,
    retryPolicy: readRetryPolicy(from),
  };
}

function readRetryPolicy(from: ManifestService | ManifestHandler): PartialRetryPolicy | undefined {
  const attempts = from.retryPolicyMaxAttempts;
  const policy = {
    initialIntervalMs: from.retryPolicyInitialInterval ?? undefined,
    exponentiationFactor: from.retryPolicyExponentiationFactor ?? undefined,
    maxIntervalMs: from.retryPolicyMaxInterval ?? undefined,
    maxAttempts: isGiven(attempts) ? Math.max(1, attempts) : undefined,
    onMaxAttempts: onMaxAttempts(from.retryPolicyOnMaxAttempts),
  };
  return Object.values(policy).some((value) => value !== undefined) ? policy : undefined;
}

function onMaxAttempts(
  given: ManifestService['retryPolicyOnMaxAttempts'],
): 'pause' | 'kill' | undefined {
  if (!isGiven(given)) return undefined;
  return given === 'PAUSE' ? 'pause' : 'kill';
}

function isGiven<Value>(value: Value): value is NonNullable<Value> {
  return value !== undefined && value !== null;
}
